//! Deserializes a phase, whose groups of counts are flattened into one object.
//!
//! Serde's `flatten` would buffer the whole object first, which takes most of the time of reading a
//! long run.

use std::collections::BTreeMap;
use std::mem::take;

use serde::{Deserialize, Deserializer};
use ssdlab_flash::FlashActivity;
use ssdlab_host::meter::block::Counters;
use ssdlab_operations::calls::ProgramActivity;
use ssdlab_plan::metric::Metric;
use ssdlab_workload::engine::EngineSeries;

use super::ledger::Ledger;
use super::record::PhaseRecord;
use super::work::{Latency, Work};

/// A phase's own fields, and groups of counts: a group exists if all its fields do, except those
/// that `may` be missing.
macro_rules! phase {
    (
        { $($own:ident: $Own:ty,)* }
        $($group:ident: $Group:ident {
            $($field:ident: $Type:ty,)*
        } may {
            $($may:ident: $May:ty,)*
        })*
    ) => {
        /// A phase as it is stored.
        #[derive(Deserialize)]
        struct Flat {
            name: String,
            $(#[serde(default)] $own: $Own,)*
            $($($field: Option<$Type>,)* $(#[serde(default)] $may: $May,)*)*
        }

        impl Flat {
            $(fn $group(&mut self) -> Option<$Group> {
                Some($Group { $($field: self.$field.take()?,)* $($may: take(&mut self.$may),)* })
            })*
        }

        impl From<Flat> for PhaseRecord {
            fn from(mut flat: Flat) -> Self {
                Self {
                    $($group: flat.$group(),)*
                    name: flat.name,
                    $($own: flat.$own,)*
                }
            }
        }
    };
}

phase! {
    {
        time_ns: Option<u64>,
        settled_ns: Option<u64>,
        is_quiet: Option<bool>,
        cpu_ns: Option<u64>,
        kernel_threads_ns: Option<u64>,
        interrupts_ns: Option<u64>,
        application_bytes: Option<u64>,
        at_return: Option<Counters>,
        lifetime_kib: Option<u64>,
        commits: Option<u64>,
        reported: BTreeMap<Metric, f64>,
        programs: Option<ProgramActivity>,
        remark: Option<String>,
        ledger: Option<Ledger>,
    }
    device: Counters {
        read_requests: u64,
        read_bytes: u64,
        write_requests: u64,
        written_bytes: u64,
        discard_requests: u64,
        discarded_bytes: u64,
        flushes: u64,
    } may {
        write_merges: u64,
    }
    flash: FlashActivity {
        flash_written_bytes: u64,
        flash_read_bytes: u64,
        erases: u64,
        stalled_ns: u64,
    } may {
        hottest_erases: u64,
        repeats_until_worn: Option<f64>,
        years_until_worn: Option<f64>,
        repeats_by_bytes: Option<f64>,
        years_by_bytes: Option<f64>,
    }
    work: Work {
        operations: u64,
        ops_per_second: f64,
        latency: Latency,
        series: EngineSeries,
    } may {
        bytes_per_second: Option<f64>,
    }
}

impl<'de> Deserialize<'de> for PhaseRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut phase = Self::from(Flat::deserialize(deserializer)?);
        if let Some(work) = &mut phase.work {
            work.series.operations.shrink_to_fit();
        }
        Ok(phase)
    }
}
