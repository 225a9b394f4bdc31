//! Every backend, and every disk that a guest has, passes the body.

use std::sync::{Arc, Mutex};

use ssdlab_disk::{DiskShape, Flash, Memory};
use ssdlab_flash::Nanos;

use crate::body::conforms;
use crate::drive;
use crate::guest::{Setup, serve};

#[test]
fn memory_conforms() {
    let times = conforms(&mut Memory::new(2 << 20));
    assert!(times.iter().all(|time| *time == Nanos::ZERO));
}

#[test]
fn a_simulated_drive_conforms_and_takes_the_same_time_every_time() {
    let [first, second] = [0, 1].map(|_| conforms(&mut Flash::new(drive())));
    assert!(first == second);
    assert!(first.last() > Some(&Nanos(1_000_000)));
}

#[test]
fn a_shared_backend_conforms() {
    let mut memory = Arc::new(Mutex::new(Memory::new(1 << 20)));
    conforms(&mut memory);
    assert!(memory.lock().unwrap().pages().count() > 0);
}

#[test]
fn a_disk_of_a_guest_conforms_in_virtual_time() {
    let (outcome, times) =
        serve(vec![Setup::new(Flash::new(drive()), DiskShape::default())], conforms_for_guest);
    let (again, _) =
        serve(vec![Setup::new(Flash::new(drive()), DiskShape::default())], conforms_for_guest);
    assert_eq!(outcome, again);
    assert!(times.last() > Some(&Nanos(1_000_000)));
}

fn conforms_for_guest(guest: &mut crate::guest::Guest) -> Vec<Nanos> {
    conforms(&mut guest.disk(0))
}
