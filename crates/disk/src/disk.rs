//! Defines a disk, as created by the caller and served by the event loop.

use std::fmt;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};

use ssdlab_flash::{Extent, Nanos};
use ssdlab_trace::{Flags, Request, RequestKind, TraceError, WriteOrigin};

use crate::DiskError;
use crate::device::{
    AnyBackend, CompletedRequest, DiskShape, KernelHints, RequestErrors, VirtioDevice,
};
use crate::fingerprint::{HashedRequest, TraceHasher};
use crate::log::DiskLog;
use crate::socket::{GuestSocket, Listener, SocketRead};
use crate::vhost::{Notifications, PendingRequest, Session, answer_next};

/// A disk to be served.
///
/// It owns its backend; one behind an `Arc<Mutex<_>>` is a backend, too.
pub struct Disk<'a> {
    name: String,
    device: VirtioDevice<'a>,
    log: Option<DiskLog<'a>>,
    listener: Listener,
    socket: Option<GuestSocket>,
    has_ended: bool,
    session: Session,
}

impl fmt::Debug for Disk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> Disk<'a> {
    /// A disk that a guest reaches through a socket named by `virtio_uml.device=SOCKET:2` on its
    /// command line. The disk's name is for messages.
    pub fn new(
        name: &str,
        listener: impl Into<Listener>,
        backend: AnyBackend<'a>,
        shape: DiskShape,
    ) -> Result<Self, DiskError> {
        let device = VirtioDevice::new(backend, shape)
            .map_err(|cause| DiskError::Shape { disk: name.to_owned(), cause })?;
        Ok(Self {
            name: name.to_owned(),
            device,
            log: None,
            listener: listener.into(),
            socket: None,
            has_ended: false,
            session: Session::new(name, Notifications::Calendar),
        })
    }

    /// Also writes a log of all requests, in the format of [`ssdlab_trace::RequestLogWriter`],
    /// which is complete when the guest has ended. The output should be buffered.
    pub fn with_log(mut self, output: impl Write + Send + 'a) -> Result<Self, DiskError> {
        let log = DiskLog::new(Box::new(output), self.device.capacity_bytes())
            .map_err(|cause| log_error(&self.name, cause))?;
        self.log = Some(log);
        Ok(self)
    }

    /// Has some of its requests fail.
    #[must_use]
    pub fn with_errors(mut self, errors: RequestErrors) -> Self {
        self.device.fail(errors);
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What becomes readable when the guest connects or sends a message about this disk.
    pub(crate) fn source(&self) -> Option<BorrowedFd<'_>> {
        let socket = self.socket.as_ref().map_or(self.listener.as_fd(), AsFd::as_fd);
        (!self.has_ended).then_some(socket)
    }

    /// Accepts the guest, or answers its message.
    pub(crate) fn hear(&mut self) -> Result<(), DiskError> {
        let Self { session, device, .. } = self;
        let Some(socket) = &self.socket else {
            self.socket = Some(self.listener.accept(&format!("disk {}", self.name))?);
            return Ok(());
        };
        if answer_next(socket, |frame| session.handle(frame, device))? == SocketRead::End {
            // The guest ends, or has released the disk; the time controller will tell which.
            self.has_ended = true;
            session.stop();
        }
        Ok(())
    }

    /// Whether the guest may say that requests wait.
    pub(crate) fn is_started(&self) -> bool {
        self.session.is_started()
    }

    /// Serves all waiting requests, and passes each on with its completion time.
    pub(crate) fn serve(
        &mut self,
        index: u32,
        now: Nanos,
        hasher: &mut TraceHasher,
        mut each: impl FnMut(Nanos, PendingRequest),
    ) -> Result<(), DiskError> {
        let mut seen = Vec::new();
        while let Some(chain) = self.session.take()? {
            let served = self
                .device
                .serve(chain, now, hasher)
                .map_err(|cause| DiskError::Backend { disk: self.name.clone(), cause })?;
            let Some(mut pending) = self.session.accept(&served) else { continue };
            if let Some(log) = &mut self.log {
                let mut last = None;
                for (kind, extent) in &served.commands {
                    let number = log.submit(record(&served, *kind, *extent, now));
                    let first = last.map_or(number, |_| pending.logged.start);
                    pending.logged = first..number + 1;
                    last = Some(number);
                }
            }
            see(&mut seen, index, now, &served);
            each(served.done, pending);
        }
        for seen in &seen {
            hasher.request(seen);
        }
        Ok(())
    }

    /// Returns a request to the guest.
    pub(crate) fn complete(
        &mut self,
        now: Nanos,
        pending: &PendingRequest,
    ) -> Result<(), DiskError> {
        if let Some(log) = &mut self.log {
            for number in pending.logged.clone() {
                log.complete(number, now.0).map_err(|cause| log_error(&self.name, cause))?;
            }
        }
        self.session.complete(pending)
    }

    /// Whether the guest wants to be notified of returned requests.
    pub(crate) fn wants_call(&mut self) -> Result<bool, DiskError> {
        self.session.wants_call()
    }

    /// Ends the log.
    pub(crate) fn finish(&mut self) -> Result<(), DiskError> {
        match self.log.take() {
            Some(log) => log.finish().map_err(|cause| log_error(&self.name, cause)),
            None => Ok(()),
        }
    }
}

fn record(served: &CompletedRequest, kind: RequestKind, extent: Extent, now: Nanos) -> Request {
    let KernelHints { origin, mut flags } = served.told;
    let stores = matches!(kind, RequestKind::Write | RequestKind::WriteZeroes);
    let is_forced = flags.contains(Flags::FUA) || served.writes_through;
    flags.set(Flags::FUA, stores && is_forced);
    // A guest may say anything.
    let fits =
        |told: &WriteOrigin| told.directory_bytes + told.metadata_bytes <= extent.length_bytes;
    Request {
        submitted_ns: now.0,
        completed_ns: None,
        kind,
        offset_bytes: extent.offset_bytes,
        length_bytes: extent.length_bytes,
        flags,
        origin: origin.filter(fits),
    }
}

/// The entries of a request in the fingerprint: one per range, or one without.
fn see(seen: &mut Vec<HashedRequest>, disk: u32, now: Nanos, served: &CompletedRequest) {
    let nowhere = Extent { offset_bytes: 0, length_bytes: 0 };
    let extents = served.commands.iter().map(|(_, extent)| *extent);
    let none = served.commands.is_empty().then_some(nowhere);
    let status = served.answer.map_or(255, |(_, status)| status as u32);
    seen.extend(extents.chain(none).map(|extent| HashedRequest {
        disk: disk.into(),
        number: served.number.into(),
        submitted_ns: now.0.into(),
        completed_ns: served.done.0.into(),
        offset_bytes: extent.offset_bytes.into(),
        length_bytes: extent.length_bytes.into(),
        status: status.into(),
    }));
}

fn log_error(disk: &str, cause: TraceError) -> DiskError {
    DiskError::Log { disk: disk.to_owned(), cause }
}
