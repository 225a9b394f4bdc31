//! The drives that come with the crate. Each is a drive file with evidence for every value, and can
//! serve as a start for your own.

use schemars::JsonSchema;
use serde::Serialize;

use super::Specification;

/// What drives of a kind have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DriveClass {
    /// A memory card, eMMC, or the first SSD of a netbook.
    Card,
    /// An SSD on an ATA link.
    Sata,
    /// An `NVMe` SSD for consumers.
    Nvme,
    /// An SSD with capacitors.
    DataCentre,
    /// Memory that is written in place.
    Optane,
    /// Takes no time.
    Ideal,
}

/// A drive's name and its file.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Its name, which is also the name in the file.
    pub name: &'static str,
    /// The class of drives that it belongs to.
    pub class: DriveClass,
    pub text: &'static str,
}

impl Preset {
    /// The drive that its file describes.
    pub fn specification(self) -> Specification {
        Specification::parse(self.text).expect("a test parses every preset")
    }

    /// What its host can store on it, in bytes.
    pub fn capacity_bytes(self) -> u64 {
        self.specification().capacity_bytes()
    }
}

/// Every preset, the oldest drive first.
pub const ALL: [Preset; 20] = [
    preset("eeepc-4g", DriveClass::Card, include_str!("../presets/eeepc-4g.toml")),
    preset("sd-card", DriveClass::Card, include_str!("../presets/sd-card.toml")),
    preset("sd-card-a2", DriveClass::Card, include_str!("../presets/sd-card-a2.toml")),
    preset("emmc", DriveClass::Card, include_str!("../presets/emmc.toml")),
    preset("x25m-g1", DriveClass::Sata, include_str!("../presets/x25m-g1.toml")),
    preset("x25m-g2", DriveClass::Sata, include_str!("../presets/x25m-g2.toml")),
    preset("vertex-le", DriveClass::Sata, include_str!("../presets/vertex-le.toml")),
    preset("sata-tlc", DriveClass::Sata, include_str!("../presets/sata-tlc.toml")),
    preset("970-pro", DriveClass::Nvme, include_str!("../presets/970-pro.toml")),
    preset("tlc-dramless", DriveClass::Nvme, include_str!("../presets/tlc-dramless.toml")),
    preset("tlc-dram", DriveClass::Nvme, include_str!("../presets/tlc-dram.toml")),
    preset("qlc", DriveClass::Nvme, include_str!("../presets/qlc.toml")),
    preset("tlc-gen4", DriveClass::Nvme, include_str!("../presets/tlc-gen4.toml")),
    preset("tlc-2023", DriveClass::Nvme, include_str!("../presets/tlc-2023.toml")),
    preset("datacenter", DriveClass::DataCentre, include_str!("../presets/datacenter.toml")),
    preset(
        "datacenter-tlc",
        DriveClass::DataCentre,
        include_str!("../presets/datacenter-tlc.toml"),
    ),
    preset(
        "datacenter-gen4",
        DriveClass::DataCentre,
        include_str!("../presets/datacenter-gen4.toml"),
    ),
    preset(
        "datacenter-gen5",
        DriveClass::DataCentre,
        include_str!("../presets/datacenter-gen5.toml"),
    ),
    preset("optane", DriveClass::Optane, include_str!("../presets/optane.toml")),
    preset("ideal", DriveClass::Ideal, include_str!("../presets/ideal.toml")),
];

const fn preset(name: &'static str, class: DriveClass, text: &'static str) -> Preset {
    Preset { name, class, text }
}

pub fn find(name: &str) -> Option<Preset> {
    ALL.into_iter().find(|preset| preset.name == name)
}
