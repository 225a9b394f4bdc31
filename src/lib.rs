//! ssdlab settles questions about filesystems on SSDs by controlled experiment.
//!
//! The rooms, from the question to the answer; ARCHITECTURE.md says what each must not know:
//!
//! - [`plan`]: what a person writes, resolved into a schedule
//! - [`filesystem`]: what is known about each filesystem
//! - [`lab`]: places to run a trial
//! - [`guest`]: a real kernel in virtual time
//! - [`workload`]: what is done to a filesystem
//! - [`meter`]: what is measured
//! - [`ledger`]: what the bytes are that were written
//! - [`conductor`]: runs a schedule on a lab
//! - [`results`]: records and the folders they are kept in
//! - [`advice`]: effects, verdicts and settings
//! - [`report`]: analyses as something people read
//! - [`export`]: samples and analyses as files for other programs
//! - [`import`]: other people's results as a run
//! - [`simulation`]: patterns and traces on simulated drives
//! - [`aged`]: states of filesystems that are made once and kept
//! - [`host`]: calls into the running machine
//! - [`kernel`]: the lab kernel, built and found
//! - [`undo`]: taking back every change to the machine
//! - [`watch`]: a page that shows a run as it goes on
//! - [`cli`]: the command line

pub mod advice;
pub mod aged;
#[cfg(not(fuzzing))]
pub mod cli;
pub mod conductor;
#[cfg(not(fuzzing))]
pub mod export;
pub mod filesystem;
pub mod guest;
pub mod host;
pub mod import;
pub mod kernel;
pub mod lab;
pub mod ledger;
pub mod meter;
pub mod plan;
#[cfg(not(fuzzing))]
pub mod report;
pub mod results;
pub mod simulation;
pub mod slurm;
pub mod undo;
#[cfg(not(fuzzing))]
pub mod watch;
pub mod workload;
