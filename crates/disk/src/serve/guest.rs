//! Defines a connected virtual machine: its requests, and its end.
//!
//! One thread takes its messages and its requests; answers come from that of [`AnswerQueue`]. Its
//! resources, above all its memory, are released when it leaves. The disk stays.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use crate::backend::lock;
use crate::serve::answers::AnswerQueue;
use crate::serve::clock::MonotonicClock;
use crate::serve::counts::RequestCounts;
use crate::serve::error::Departure;
use crate::socket::{GuestSocket, SocketRead, wait};
use crate::vhost::{
    Frame, Notifications, PendingRequest, Session, VhostReply, VhostRequest, answer_next,
};
use crate::{DiskError, TraceHasher, VirtioDevice};

/// How many requests are served before the next look for a message.
const BATCH: usize = 64;

/// The disk, which outlives guests.
pub struct ServedDisk {
    pub name: String,
    pub device: Mutex<(VirtioDevice<'static>, RequestCounts)>,
    pub answers: AnswerQueue,
    pub clock: MonotonicClock,
}

/// A connected virtual machine.
pub struct Guest {
    disk: Arc<ServedDisk>,
    socket: GuestSocket,
    session: Mutex<Session>,
    is_let_go: AtomicBool,
}

impl Guest {
    /// A guest that has connected.
    pub fn new(disk: &Arc<ServedDisk>, stream: UnixStream) -> io::Result<Self> {
        Ok(Self {
            disk: Arc::clone(disk),
            socket: GuestSocket::new(stream, "virtual machine")?,
            session: Mutex::new(Session::new(&disk.name, Notifications::Events)),
            is_let_go: AtomicBool::new(false),
        })
    }

    /// Serves it until it leaves or is disconnected. Returns what the user should know about that,
    /// or why no guest can be served any more.
    pub fn attend(self: &Arc<Self>) -> Result<Option<Departure>, String> {
        // QEMU configured with several queues leaves after learning that there is one.
        let (mut has_negotiated, mut has_read_config) = (false, false);
        let ended = self.serve(|request| match request {
            VhostRequest::GET_FEATURES => has_negotiated = true,
            VhostRequest::GET_CONFIG => has_read_config = true,
            _ => {}
        });
        self.let_go();
        match ended {
            // It may also leave in the middle of a message.
            Ok(()) | Err(DiskError::Socket { .. }) => {
                Ok((has_negotiated && !has_read_config).then_some(Departure::Unused))
            }
            Err(DiskError::Backend { cause, .. }) => Err(cause.to_string()),
            Err(DiskError::Message { cause, .. }) => {
                Ok(Some(Departure::Disconnected(cause.to_string())))
            }
            Err(error) => Ok(Some(Departure::Disconnected(error.to_string()))),
        }
    }

    /// Disconnects it.
    pub fn let_go(&self) {
        self.is_let_go.store(true, Ordering::SeqCst);
        self.socket.shut_down();
    }

    fn serve(self: &Arc<Self>, mut heard: impl FnMut(VhostRequest)) -> Result<(), DiskError> {
        let mut has_more = false;
        while !self.is_let_go.load(Ordering::SeqCst) {
            let kick = lock(&self.session).kick();
            let sources = [Some(self.socket.as_fd()), kick.as_ref().map(AsFd::as_fd)];
            let ready = wait(&sources, has_more.then_some(Duration::ZERO))
                .map_err(|cause| self.socket.fault("wait for", cause))?
                .unwrap_or_default();
            if ready.first() == Some(&true) {
                let handle = |frame| self.handle(frame, &mut heard);
                if answer_next(&self.socket, handle)? == SocketRead::End {
                    return Ok(());
                }
            }
            if let Some(mut kick) = kick.as_deref().filter(|_| ready.last() == Some(&true)) {
                // If it cannot be read, the ring is looked at once more than needed.
                let _ = kick.read(&mut [0; 8]);
                has_more = true;
            }
            has_more = has_more && self.serve_ring()?;
        }
        Ok(())
    }

    fn handle(
        &self,
        frame: Frame,
        heard: &mut impl FnMut(VhostRequest),
    ) -> Result<VhostReply, DiskError> {
        let request = VhostRequest::numbered(frame.request, Notifications::Events);
        if let Some(request) = request {
            heard(request);
        }
        if matches!(request, Some(VhostRequest::GET_VRING_BASE | VhostRequest::SET_VRING_ENABLE)) {
            // A stopped ring must not change any more.
            while self.disk.answers.pending() > 0 {
                sleep(Duration::from_millis(1));
            }
        }
        let mut session = lock(&self.session);
        session.handle(frame, &mut lock(&self.disk.device).0)
    }

    /// Serves a batch of requests. Returns whether more may wait; otherwise the guest will kick.
    fn serve_ring(self: &Arc<Self>) -> Result<bool, DiskError> {
        let ServedDisk { name, device, answers, clock } = &*self.disk;
        for _ in 0..BATCH {
            let Some(chain) = lock(&self.session).take()? else { return Ok(false) };
            answers.take();
            let mut device = lock(device);
            let now = clock.now();
            // A run in real time has no use for a fingerprint.
            let request = device
                .0
                .serve(chain, now, &mut TraceHasher::default())
                .inspect_err(|_| answers.give(now, || {}))
                .map_err(|cause| DiskError::Backend { disk: name.clone(), cause })?;
            device.1.request(&request);
            drop(device);
            let pending = lock(&self.session).accept(&request);
            // A guest that has gone waits for no answer.
            let guest = Arc::downgrade(self);
            answers.give(request.done, move || {
                if let (Some(guest), Some(pending)) = (guest.upgrade(), pending) {
                    guest.complete(&pending);
                }
            });
        }
        Ok(true)
    }

    /// Returns a request to the guest.
    fn complete(&self, pending: &PendingRequest) {
        let mut session = lock(&self.session);
        // If the ring is broken by now, there is nobody to notify.
        if session.complete(pending).is_ok() && session.wants_call().unwrap_or(true) {
            session.call();
        }
    }
}
