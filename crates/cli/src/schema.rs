//! `ssdlab schema`: JSON schemas of plans and of machine-readable output.

use clap::{Args, ValueEnum};
use schemars::schema_for;
use ssdlab_advice::{BaselineComparison, Comparison};
use ssdlab_attribution::WhoOutput;
use ssdlab_flash::simulation::SimulationOutcome;
use ssdlab_plan::Plan;
use ssdlab_report::{AnsweredAnalysis, Book, History};
use ssdlab_results::{Baseline, DeviceCut, Record, RepeatedCut, Shrink};

use super::cache::CacheOutput;
use super::cut_device::CutDeviceOutput;
use super::doctor::DoctorOutput;
use super::exit::Exit;
use super::list::ListOutput;
use super::method::MethodOutput;
use super::model_output::ModelOutput;
use super::output;
use super::probe::ProbeOutput;
use super::trace::TraceOutput;
use super::who::SinceBoot;

/// Arguments of `ssdlab schema`.
#[derive(Debug, Args)]
pub struct SchemaCommand {
    /// The format to describe.
    #[arg(default_value = "plan")]
    of: JsonFormat,
}

/// A format with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum JsonFormat {
    /// A plan.
    Plan,
    /// A line of a run's records.jsonl.
    Record,
    /// A file of `ssdlab baseline record`, which is written in TOML.
    Baseline,
    /// The output of `ssdlab baseline check --json`.
    BaselineComparison,
    /// The output of `ssdlab run --json` and `ssdlab report --json`.
    Analysis,
    /// The output of `ssdlab method --json`.
    Method,
    /// The output of `ssdlab compare --json`.
    Comparison,
    /// The output of `ssdlab cut --json`.
    Cut,
    /// The output of `ssdlab cut --shrink --json`.
    Shrink,
    /// The output of `ssdlab cut --device-log --json`.
    DeviceCuts,
    /// The same with `--cut`.
    DeviceCut,
    /// The output of `ssdlab history --json`.
    History,
    /// The output of `ssdlab cache --json`.
    Cache,
    /// What `ssdlab drive show --json` prints.
    Drive,
    /// What `ssdlab evidence --json` prints.
    Evidence,
    /// What `ssdlab host show --json` prints.
    Host,
    /// The output of `ssdlab list --json`.
    List,
    /// A line of `ssdlab simulate --json-lines`; `--json` prints the same with additions.
    Simulation,
    /// The output of `ssdlab trace --json`, for a run or for a block trace.
    Trace,
    /// The output of `ssdlab doctor --json`.
    Doctor,
    /// The output of `ssdlab probe --json`.
    Probe,
    /// The output of `ssdlab who --json`, of what was written since boot.
    Who,
    /// The output of `ssdlab who --json` with `--for` or a command; with a device, it is one of the
    /// devices.
    WhoRecording,
}

impl SchemaCommand {
    pub fn run(&self) -> Exit {
        output::print_json(&self.of.schema());
        Exit::Done
    }
}

impl JsonFormat {
    pub fn schema(self) -> schemars::Schema {
        match self {
            Self::Plan => schema_for!(Plan),
            Self::Record => schema_for!(Record),
            Self::Baseline => schema_for!(Baseline),
            Self::BaselineComparison => schema_for!(BaselineComparison),
            Self::Analysis => schema_for!(AnsweredAnalysis<'_>),
            Self::Method => schema_for!(MethodOutput),
            Self::Comparison => schema_for!(Comparison),
            Self::Cut => schema_for!(RepeatedCut),
            Self::Shrink => schema_for!(Shrink),
            Self::DeviceCuts => schema_for!(CutDeviceOutput),
            Self::DeviceCut => schema_for!(DeviceCut),
            Self::History => schema_for!(History),
            Self::Cache => schema_for!(CacheOutput),
            Self::Evidence => schema_for!(Book<'_>),
            Self::Drive | Self::Host => schema_for!(ModelOutput),
            Self::List => schema_for!(ListOutput),
            Self::Simulation => schema_for!(SimulationOutcome),
            Self::Trace => schema_for!(TraceOutput<'_>),
            Self::Doctor => schema_for!(DoctorOutput),
            Self::Probe => schema_for!(ProbeOutput),
            Self::Who => schema_for!(SinceBoot),
            Self::WhoRecording => schema_for!(WhoOutput),
        }
    }
}
