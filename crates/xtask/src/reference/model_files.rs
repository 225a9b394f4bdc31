//! The reference of the files of drives and hosts: every key with an example from a shipped one.

use schemars::schema_for;
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::{self as flash, EvidencedValue, presets};
use ssdlab_plan::{HOSTS, grounded_host, host_file_schema, shipped_host};

use super::tables::Tables;

/// How amounts are written.
const AMOUNTS: &str = "Amounts are texts with their unit: `\"4 KiB\"`, `\"25 us\"`, `\"40 MB/s\"`. \
                       Every key is optional unless marked *required*.";

/// The tables and words of a drive file.
pub const DRIVE: Tables = Tables {
    tables: &[
        ("", "The drive"),
        ("WearTable", "`[wear]`"),
        ("Trim", "`[trim]`"),
        ("WriteBufferTable", "`[write_buffer]`"),
        ("SlcCacheTable", "`[slc_cache]`"),
        ("MapCacheTable", "`[map_cache]`"),
        ("TimingTable", "`[timing]`"),
        ("BackgroundTable", "`[background]`"),
        ("Evidence", "`[evidence.KEY]`"),
    ],
    words: &[
        ("MappingName", "How pages are mapped"),
        ("CollectionName", "Which block is collected"),
        ("Frontiers", "Which pages share a block"),
        ("LevellingName", "How wear is spread"),
        ("Flush", "What a flush does"),
        ("PowerFault", "What a power failure does"),
        ("TrimmedReads", "What discarded sectors read"),
        ("Basis", "How a value was found"),
    ],
};

/// The tables and words of a host file.
pub const HOST: Tables = Tables {
    tables: &[
        ("", "The host"),
        ("NsPerKib", "`[ns_per_kib]`"),
        ("Evidence", "`[evidence.KEY]`"),
        ("HostFigure", "`[figures.NAME]`"),
        ("Counted", "`counts` of a figure"),
    ],
    words: &[("Basis", "How a value was found")],
};

/// The page on drive files.
pub fn drives() -> String {
    let mut out = format!(
        "A drive file describes a [simulated drive](../flash-model.md) in TOML. {AMOUNTS} `ssdlab \
         drive show NAME` prints a shipped one to start from, `ssdlab drive check FILE` says what \
         is wrong. [Your own drive file](../tutorial/own-drive.md) is a tutorial.\n"
    );
    let shipped = presets::ALL
        .iter()
        .map(|preset| flash::grounded(preset.text).expect("a test reads every preset's evidence"));
    let shipped: Vec<EvidencedValue> = shipped.flatten().collect();
    DRIVE.write(&mut out, &schema_for!(DriveFile).to_value(), &|key| example(&shipped, key));
    out
}

/// The page on host files.
pub fn hosts() -> String {
    let mut out = format!(
        "A host file describes a computer of the [virtual lab](../virtual-lab.md) in TOML. \
         {AMOUNTS} `ssdlab host show NAME` prints a shipped one to start from, `ssdlab host check \
         FILE` says what is wrong, and `ssdlab host fit` measures this computer.\n"
    );
    let shipped = HOSTS
        .iter()
        .filter_map(|host| shipped_host(&host.name))
        .map(|text| grounded_host(text).expect("a test reads every host"));
    let shipped: Vec<EvidencedValue> = shipped.flatten().collect();
    HOST.write(&mut out, &host_file_schema().to_value(), &|key| example(&shipped, key));
    out
}

/// The value that the first shipped file with this key has, as TOML.
fn example(shipped: &[EvidencedValue], [title, key]: [&str; 2]) -> Option<String> {
    let table = title.strip_prefix("`[").and_then(|title| title.strip_suffix("]`"));
    let key = table.map_or(key.to_owned(), |table| format!("{table}.{key}"));
    shipped.iter().find(|value| value.key == key).map(|value| value.value.clone())
}
