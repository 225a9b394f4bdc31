//! Every workload and every shipped log, at a small size.

use ssdlab_plan::recordings;

/// The phases of each workload, with the tables that they need.
const WORKLOADS: [&str; 13] = [
    "tree = { files = 20, size = \"1 MB\" }
     phases = [{ do = \"unpack\", sync = true }, { do = \"read\" }, { do = \"sync\" },
               { do = \"delete\" }]",
    "build = { files = 200, size = \"2 MB\" }
     phases = [{ do = \"clone\" }, { do = \"make\" }, { do = \"clean\", sync = true }]",
    "bonnie = { size = \"4 MiB\", char_size = \"1 MiB\", files = \"1:2000:0:2\", least = \"5 ms\" }
     phases = [{ do = \"bonnie\" }]",
    "phases = [{ do = \"command\", run = \"sh -c 'test ! -e a && echo b > a'\" }]",
    "phases = [{ do = \"io\", io = { size = \"1 MiB\", operations = 20, sync = \"end\" } }]",
    "phases = [{ do = \"transactions\", transactions = { database = \"1 MiB\", number = 5 } }]",
    "phases = [{ do = \"transactions\", transactions = { database = \"1 MiB\", journal = \"wal\",
                                                         pages = 2, number = 5 } }]",
    "phases = [{ do = \"replace\", replace = { files = 2, rounds = 2 } }]",
    "phases = [{ do = \"append\", append = { records = 10, sync_every = 5 } }]",
    "phases = [{ do = \"database\", database = { size = \"8 MiB\", commits = 10 } }]",
    "phases = [{ do = \"sequences\", sequences = { operations = 1 } }]",
    "phases = [{ do = \"maildir\", maildir = { messages = 10, think = \"1 ms\" } }]",
    "phases = [{ do = \"rotate\", rotate = { records = 50, size = \"1 KiB\", keep = 2 } }]",
];

/// The `[workload]` tables of plans that perform all of them.
pub fn all() -> Vec<String> {
    // The logs of a build go on where the one before them ended.
    let phase = |name: &str| format!("{{ do = \"replay\", name = \"{name}\", log = \"{name}\" }}");
    let of = |is_wanted: fn(&str) -> bool| {
        let names = recordings::ALL.iter().map(|(name, _)| *name).filter(|name| is_wanted(name));
        names.map(phase).collect::<Vec<_>>()
    };
    let is_build = |name: &str| ["zstd-clone", "zstd-make", "zstd-clean"].contains(&name);
    let [build, others] = [of(is_build), of(|name| !name.starts_with("zstd-"))];
    assert_eq!((build.len(), others.len()), (3, recordings::ALL.len() - 3));
    let logs = [vec![build.join(", ")], others].concat();
    let logs = logs.into_iter().map(|phases| format!("phases = [{phases}]"));
    WORKLOADS.into_iter().map(str::to_owned).chain(logs).collect()
}
