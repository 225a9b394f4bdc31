//! The drives that come with the crate. Each is a drive file with evidence for every value, and can
//! serve as a start for your own.

use super::Specification;

/// A drive's name and its file.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Its name, which is also the name in the file.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

impl Preset {
    /// What its host can store on it, in bytes.
    #[must_use]
    pub fn capacity_bytes(self) -> u64 {
        let specification = Specification::parse(self.text).expect("presets are drive files");
        specification.capacity_bytes()
    }
}

/// Every preset, the oldest drive first.
pub const ALL: [Preset; 20] = [
    Preset { name: "eeepc-4g", text: include_str!("../presets/eeepc-4g.toml") },
    Preset { name: "sd-card", text: include_str!("../presets/sd-card.toml") },
    Preset { name: "sd-card-a2", text: include_str!("../presets/sd-card-a2.toml") },
    Preset { name: "emmc", text: include_str!("../presets/emmc.toml") },
    Preset { name: "x25m-g1", text: include_str!("../presets/x25m-g1.toml") },
    Preset { name: "x25m-g2", text: include_str!("../presets/x25m-g2.toml") },
    Preset { name: "vertex-le", text: include_str!("../presets/vertex-le.toml") },
    Preset { name: "sata-tlc", text: include_str!("../presets/sata-tlc.toml") },
    Preset { name: "970-pro", text: include_str!("../presets/970-pro.toml") },
    Preset { name: "tlc-dramless", text: include_str!("../presets/tlc-dramless.toml") },
    Preset { name: "tlc-dram", text: include_str!("../presets/tlc-dram.toml") },
    Preset { name: "qlc", text: include_str!("../presets/qlc.toml") },
    Preset { name: "tlc-gen4", text: include_str!("../presets/tlc-gen4.toml") },
    Preset { name: "tlc-2023", text: include_str!("../presets/tlc-2023.toml") },
    Preset { name: "datacenter", text: include_str!("../presets/datacenter.toml") },
    Preset { name: "datacenter-tlc", text: include_str!("../presets/datacenter-tlc.toml") },
    Preset { name: "datacenter-gen4", text: include_str!("../presets/datacenter-gen4.toml") },
    Preset { name: "datacenter-gen5", text: include_str!("../presets/datacenter-gen5.toml") },
    Preset { name: "optane", text: include_str!("../presets/optane.toml") },
    Preset { name: "ideal", text: include_str!("../presets/ideal.toml") },
];

#[must_use]
pub fn find(name: &str) -> Option<Preset> {
    ALL.into_iter().find(|preset| preset.name == name)
}
