//! The drive: commands in, completions out.

use crate::command::{Command, Completion, Extent, Refusal, Stream};
use crate::counters::{FlashCounters, HostCounters, OperationReason};
use crate::ftl::Ftl;
use crate::link::{Arrival, Link};
use crate::map_cache::CachedMap;
use crate::nand::{FlashArray, Nand};
use crate::specification::{Flush, Specification, WriteCache};
use crate::units::{LogicalPage, Nanos, PageRun, PhysicalPage, count};
use crate::wear::WearSummary;
use crate::write_buffer::Buffer;

/// A simulated SSD.
///
/// Equal drives that get equal commands at equal times give equal answers: there is no clock, and
/// no randomness but that of the seed.
///
/// # Snapshots
/// A clone is a snapshot, and assigning it restores the state.
#[derive(Debug, Clone)]
pub struct Drive<N: Nand = FlashArray> {
    specification: Specification,
    ftl: Ftl,
    nand: N,
    buffer: Option<Buffer>,
    map_cache: Option<CachedMap>,
    link: Option<Link>,
    asked: HostCounters,
    /// A discard blocks everything until then.
    blocked_until: Nanos,
    discarding_until: Nanos,
    /// When the last of the commands so far is done.
    last_done: Nanos,
    /// Whether anything was changed since the last flush.
    is_changed: bool,
}

impl Drive {
    /// A new drive. The seed determines its only random choice: that of blocks to collect, if the
    /// specification asks for it.
    pub fn new(specification: Specification, seed: u64) -> Self {
        Self::watched(specification, seed, |array| array)
    }
}

impl<N: Nand> Drive<N> {
    /// A new drive with a watched flash.
    pub fn watched(
        specification: Specification,
        seed: u64,
        watch: impl FnOnce(FlashArray) -> N,
    ) -> Self {
        let ftl = Ftl::new(&specification, seed);
        let nand = watch(FlashArray::new(&specification, ftl.blocks()));
        let pages = specification.logical_pages;
        Self {
            buffer: specification.write_buffer.map(|buffer| {
                Buffer::new(buffer.pages, specification.power_loss.protection, pages)
            }),
            map_cache: specification
                .map_cache
                .map(|cache| CachedMap::new(cache.map_pages, cache.covers_pages, pages)),
            link: specification.timing.as_ref().map(Link::new),
            ftl,
            nand,
            asked: HostCounters::default(),
            blocked_until: Nanos::ZERO,
            discarding_until: Nanos::ZERO,
            last_done: Nanos::ZERO,
            is_changed: false,
            specification,
        }
    }

    /// Performs a command that arrives at `now`, never earlier than the previous one.
    ///
    /// Afterwards the drive's state is that after the command, although the command completes only
    /// at the completion's time. Commands whose times overlap run concurrently.
    pub fn submit(&mut self, now: Nanos, command: Command) -> Result<Completion, Refusal> {
        self.check(command)?;
        let now = now.max(self.blocked_until);
        self.work_in_background(now);
        self.nand.as_mut().begin(now);
        self.asked.commands += 1;
        // What a write with FUA changed is safe without a flush.
        self.is_changed |=
            !matches!(command, Command::Read(_) | Command::Flush | Command::WriteFua(_));
        let at = match command {
            Command::Read(extent) => self.read(extent, now),
            Command::Write(extent, stream) => self.write(extent, stream, now),
            Command::WriteFua(extent) => self.write_fua(extent, now),
            Command::Flush => {
                self.asked.flushes += 1;
                self.flush(now)
            }
            Command::Discard(extent) => self.discard(extent, now),
            Command::WriteZeroes(extent) => self.write_zeroes(extent, now),
        };
        self.last_done = self.last_done.max(at);
        Ok(Completion { at })
    }

    /// Prefetches the memory that writing the `next` few pages will need, and those `after` them,
    /// which will be `next` in a later call. Affects only the speed of the simulation.
    pub fn expect(&self, next: &[LogicalPage], after: &[LogicalPage]) {
        self.ftl.expect(next, after);
    }

    /// Cuts the power. Returns the logical pages whose last write is lost, in the order they were
    /// written; each is as it was before the writes since the last flush, and everything else is
    /// kept. Submitted commands that are not lost take full effect.
    pub fn cut_power(&mut self) -> Vec<LogicalPage> {
        if self.buffer.as_ref().is_some_and(|buffer| buffer.is_protected) {
            self.drain(Nanos::ZERO);
        }
        // With protection only the times are lost.
        let lost = self.buffer.as_mut().map(Buffer::lose).unwrap_or_default();
        self.forget_time();
        lost
    }

    /// The drive's specification.
    pub fn specification(&self) -> &Specification {
        &self.specification
    }

    /// The host's commands since [`Drive::reset_counts`].
    pub fn host_counters(&self) -> &HostCounters {
        &self.asked
    }

    /// The flash's operations since [`Drive::reset_counts`].
    pub fn flash_counters(&self) -> &FlashCounters {
        self.nand.as_ref().counters()
    }

    /// Flash that watches the array, or the array itself.
    pub fn nand(&self) -> &N {
        &self.nand
    }

    /// Counts from 0 again; wear stays.
    pub fn reset_counts(&mut self) {
        self.asked = HostCounters::default();
        self.ftl.forget_filled_slc();
        self.nand.as_mut().reset_counters();
    }

    /// How worn the blocks for data are.
    pub fn wear(&self) -> WearSummary {
        let aged = self.nand.as_ref().aged();
        WearSummary::of(self.erases(), aged, self.specification.wear.endurance)
    }

    /// How often each block for data has been erased in the drive's life, without the erases that
    /// [`Condition::Aged`](crate::Condition) has added to all.
    pub fn erases(&self) -> &[u32] {
        self.nand.as_ref().erases()
    }

    /// Where the newest version of a page is on the flash; none if it holds no data, or waits in
    /// the write buffer and was never on the flash.
    pub fn locate(&self, page: LogicalPage) -> Option<PhysicalPage> {
        self.ftl.locate(page)
    }

    /// Whether the newest version of a page waits in the write buffer.
    pub fn is_buffered(&self, page: LogicalPage) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.holds(page))
    }

    /// Whether a page holds data, on the flash or in the write buffer.
    pub fn is_mapped(&self, page: LogicalPage) -> bool {
        self.ftl.locate(page).is_some() || self.is_buffered(page)
    }

    /// Whether commands take time.
    pub fn is_timed(&self) -> bool {
        self.link.is_some()
    }

    /// The pages that hold data on the flash.
    pub fn mapped_pages(&self) -> u32 {
        self.ftl.mapped_pages()
    }

    /// Erased blocks ready to be written.
    pub fn free_blocks(&self) -> u32 {
        self.ftl.free_blocks()
    }

    /// Erased blocks of the SLC cache, if there is one.
    pub fn free_slc_blocks(&self) -> Option<u32> {
        self.ftl.free_slc_blocks()
    }

    /// Whether its SLC cache was full since [`Drive::reset_counts`].
    pub fn has_filled_slc(&self) -> bool {
        self.ftl.has_filled_slc()
    }

    /// Whether too many blocks are worn out for further writes.
    pub fn is_worn_out(&self) -> bool {
        self.ftl.is_worn_out()
    }

    /// The bytes the model takes in memory.
    pub fn memory_bytes(&self) -> usize {
        self.ftl.memory_bytes() + self.nand.as_ref().memory_bytes()
    }

    /// Does something in zero time: all dies are idle afterwards, and nothing is counted.
    pub(crate) fn out_of_time<R>(&mut self, what: impl FnOnce(&mut Self) -> R) -> R {
        self.forget_time();
        let link = self.link.take();
        self.nand.as_mut().pause_time();
        let result = what(self);
        self.nand.as_mut().resume_time();
        self.link = link;
        self.forget_time();
        self.reset_counts();
        result
    }

    /// Unmaps every page and erases every full block, whether the drive honours discards or not.
    pub(crate) fn purge(&mut self) {
        self.unmap(run(0, self.specification.logical_pages.into()), Nanos::ZERO);
        self.ftl.idle(&mut self.nand, u32::MAX, Nanos::ZERO, Nanos(u64::MAX));
    }

    pub(crate) fn array_mut(&mut self) -> &mut FlashArray {
        self.nand.as_mut()
    }

    fn forget_time(&mut self) {
        self.nand.as_mut().forget_time();
        self.link = self.link.as_ref().and(self.specification.timing.as_ref()).map(Link::new);
        self.blocked_until = Nanos::ZERO;
        self.discarding_until = Nanos::ZERO;
        self.last_done = Nanos::ZERO;
        self.is_changed = false;
    }

    #[inline]
    fn check(&self, command: Command) -> Result<(), Refusal> {
        let changes =
            matches!(command, Command::Write(..) | Command::WriteFua(_) | Command::WriteZeroes(_));
        if changes && self.is_worn_out() {
            return Err(Refusal::WornOut);
        }
        let extent = command.extent().map(|of| of.within(self.specification.capacity_bytes()));
        extent.transpose().map(drop)
    }

    /// Does the drive's background work, if the last command was long enough ago.
    fn work_in_background(&mut self, now: Nanos) {
        let Some(background) = self.specification.background else { return };
        let from = self.last_done.max(self.nand.as_ref().busy_until()) + background.after;
        if from >= now || self.is_worn_out() {
            return;
        }
        self.nand.as_mut().begin(from);
        let drained = self.drain(from);
        self.ftl.idle(&mut self.nand, background.free_blocks, drained, now);
    }

    fn page_bytes(&self) -> u64 {
        u64::from(self.specification.page_bytes)
    }

    /// Bytes as whole pages. A page is a power of two, and this runs for every command: hence the
    /// shift.
    fn whole_pages(&self, bytes: u64) -> u64 {
        bytes >> self.specification.page_bytes.trailing_zeros()
    }

    /// The pages that an extent touches; an empty one touches none.
    fn touched(&self, extent: Extent) -> PageRun {
        let first = self.whole_pages(extent.offset_bytes);
        if extent.length_bytes == 0 {
            return run(first, first);
        }
        let end = extent.offset_bytes + extent.length_bytes + self.page_bytes() - 1;
        run(first, self.whole_pages(end))
    }

    /// The pages that lie wholly in an extent.
    fn covered(&self, extent: Extent) -> PageRun {
        let end = extent.offset_bytes + extent.length_bytes;
        let first = self.whole_pages(extent.offset_bytes + self.page_bytes() - 1);
        run(first, self.whole_pages(end))
    }

    /// The controller accepts a command. Returns when it has.
    #[inline]
    fn accept(&mut self, takes: Nanos, now: Nanos) -> Nanos {
        let begun = now.max(self.nand.as_mut().occupy_controller(takes));
        self.nand.as_mut().begin(begun);
        begun
    }

    fn read(&mut self, extent: Extent, now: Nanos) -> Nanos {
        self.asked.read_bytes += extent.length_bytes;
        let takes = self.specification.timing.map_or(Nanos::ZERO, |t| t.controller.per_read);
        let begun = self.accept(takes, now);
        let run = self.touched(extent);
        let known = self.look_up(run, false, begun);
        let mut ready = known;
        for page in run.pages() {
            if self.is_buffered(page) {
                continue;
            }
            if let Some(place) = self.ftl.locate(page) {
                ready = ready.max(self.nand.read(place, OperationReason::Host, known));
            }
        }
        let page_bytes = self.page_bytes();
        let (Some(link), Some(timing)) = (&mut self.link, &self.specification.timing) else {
            return ready;
        };
        link.send(extent.length_bytes, page_bytes, begun, ready) + timing.read_latency
    }

    #[inline]
    fn write(&mut self, extent: Extent, stream: Stream, now: Nanos) -> Nanos {
        let run = self.touched(extent);
        self.asked.written_bytes += extent.length_bytes;
        self.asked.written_pages += u64::from(run.count);
        let Some(timing) = self.specification.timing else {
            let known = self.look_up(run, true, now);
            return self.store(extent, run, stream, known, Arrival::at(known));
        };
        let begun = self.accept(timing.controller.per_write, now);
        let arrival = match &mut self.link {
            Some(link) => link.receive(extent.length_bytes, run.count, begun),
            None => Arrival::at(begun),
        };
        let known = self.look_up(run, true, begun);
        self.store(extent, run, stream, known, arrival) + timing.write_latency
    }

    /// Puts what the host writes into the buffer, each page as it arrives, or on the flash if there
    /// is none.
    #[inline]
    fn store(
        &mut self,
        extent: Extent,
        run: PageRun,
        stream: Stream,
        known: Nanos,
        mut arrival: Arrival,
    ) -> Nanos {
        let known = self.read_around(extent, known);
        if self.buffer.is_none() {
            return self.ftl.write(&mut self.nand, run, stream, known.max(arrival.last));
        }
        let mut taken = known;
        for page in run.pages() {
            taken = self.store_in_buffer(page, stream, taken.max(arrival.next()));
        }
        taken
    }

    fn store_in_buffer(&mut self, page: LogicalPage, stream: Stream, at: Nanos) -> Nanos {
        let Some(buffer) = &mut self.buffer else { return at };
        if buffer.holds(page) {
            return at;
        }
        let taken = buffer.room(at);
        buffer.take(page, stream);
        while let Some((run, stream)) = buffer.overflow() {
            let safe = self.ftl.write(&mut self.nand, run, stream, taken);
            buffer.send(run.count, safe);
        }
        taken
    }

    /// Reads the pages of which a write covers only a part. Returns when they have been read.
    #[inline]
    fn read_around(&mut self, extent: Extent, at: Nanos) -> Nanos {
        if extent.length_bytes == 0 {
            return at;
        }
        let end = extent.offset_bytes + extent.length_bytes;
        let is_within = |bytes: u64| bytes & (self.page_bytes() - 1) != 0;
        let cut = |bytes| is_within(bytes).then(|| self.whole_pages(bytes));
        let (first, last) = (cut(extent.offset_bytes), cut(end));
        let mut done = at;
        for number in first.into_iter().chain(last.filter(|last| Some(*last) != first)) {
            let page = run(number, number + 1).first;
            if let Some(place) = self.ftl.locate(page).filter(|_| !self.is_buffered(page)) {
                done = done.max(self.nand.read(place, OperationReason::Host, at));
            }
        }
        done
    }

    /// A write with forced unit access, which does not wait for its turn in the buffer.
    fn write_fua(&mut self, extent: Extent, now: Nanos) -> Nanos {
        let taken = self.write(extent, Stream::default(), now);
        if self.specification.write_cache == WriteCache::Through {
            return taken;
        }
        if !self.specification.takes_fua() {
            self.is_changed = true;
            self.asked.flushes += 1;
            return self.flush(taken);
        }
        if self.specification.power_loss.flush == Flush::Ignored {
            return taken;
        }
        let safe = self.send_out(self.touched(extent), taken);
        let latency = self.specification.timing.and_then(|timing| timing.fua_latency);
        safe + latency.unwrap_or_default()
    }

    /// Sends pages that wait in a volatile buffer to the flash. Returns when all of the run is
    /// safe, including what was sent before.
    fn send_out(&mut self, run: PageRun, at: Nanos) -> Nanos {
        let Some(buffer) = self.buffer.as_mut().filter(|buffer| !buffer.is_protected) else {
            return at;
        };
        let held = buffer.remove(run);
        let is_partly_sent = held.len() < run.count as usize;
        let mut safe = if is_partly_sent { at.max(buffer.all_safe()) } else { at };
        for part in held.chunk_by(|one, next| one.0 + 1 == next.0) {
            let run = PageRun { first: part[0], count: count(part.len()) };
            let sent = self.ftl.write(&mut self.nand, run, Stream::default(), at);
            buffer.send(run.count, sent);
            safe = safe.max(sent);
        }
        safe
    }

    fn flush(&mut self, now: Nanos) -> Nanos {
        let is_changed = std::mem::take(&mut self.is_changed);
        let is_nothing_to_do = self.specification.power_loss.flush == Flush::Ignored
            || self.specification.write_cache == WriteCache::Through;
        if is_nothing_to_do {
            return now;
        }
        let safe = match &self.buffer {
            Some(buffer) if !buffer.is_protected => self.drain(now),
            _ => now,
        };
        let latency = self.specification.timing.filter(|_| is_changed);
        safe + latency.map_or(Nanos::ZERO, |timing| timing.flush_latency)
    }

    /// Sends everything in the buffer to the flash. Returns when it is safe.
    fn drain(&mut self, at: Nanos) -> Nanos {
        let Some(buffer) = &mut self.buffer else { return at };
        while let Some((run, stream)) = buffer.oldest(usize::MAX) {
            let safe = self.ftl.write(&mut self.nand, run, stream, at);
            buffer.send(run.count, safe);
        }
        at.max(buffer.all_safe())
    }

    fn discard(&mut self, extent: Extent, now: Nanos) -> Nanos {
        self.asked.discarded_bytes += extent.length_bytes;
        let trim = self.specification.trim;
        if !trim.honoured {
            return now;
        }
        let start = if trim.blocking { now.max(self.last_done) } else { now };
        let start = start.max(self.discarding_until);
        let run = self.covered(extent);
        let known = self.look_up(run, true, start);
        let held = self.unmap(run, known);
        let free = u64::from(run.count - held) * self.page_bytes();
        let takes = u128::from(trim.per_command.0)
            + u128::from(trim.per_mapped_page.0) * u128::from(held)
            + u128::from(trim.per_unmapped_mib.0) * u128::from(free) / (1 << 20);
        let done = known + Nanos(u64::try_from(takes).unwrap_or(u64::MAX));
        self.discarding_until = done;
        if trim.blocking {
            self.blocked_until = done;
        }
        done
    }

    /// Forgets pages. Returns how many held data.
    fn unmap(&mut self, run: PageRun, at: Nanos) -> u32 {
        let mut only_buffered = 0;
        if let Some(buffer) = &mut self.buffer {
            let held = buffer.remove(run).into_iter();
            only_buffered = count(held.filter(|page| self.ftl.locate(*page).is_none()).count());
        }
        let held = only_buffered + self.ftl.trim(&mut self.nand, run, at);
        self.asked.trimmed_pages += u64::from(held);
        held
    }

    fn write_zeroes(&mut self, extent: Extent, now: Nanos) -> Nanos {
        if !self.specification.trim.honoured {
            return self.write(extent, Stream::default(), now);
        }
        let run = self.covered(extent);
        let (start, end) = (extent.offset_bytes, extent.offset_bytes + extent.length_bytes);
        let first = u64::from(run.first.0) * self.page_bytes();
        if run.count == 0 {
            return self.write(extent, Stream::default(), now);
        }
        let last = first + u64::from(run.count) * self.page_bytes();
        let mut done =
            self.discard(Extent { offset_bytes: first, length_bytes: last - first }, now);
        // Partial pages at the ends have to be written.
        for (from, to) in [(start, first), (last, end)] {
            if from < to {
                let edge = Extent { offset_bytes: from, length_bytes: to - from };
                done = done.max(self.write(edge, Stream::default(), now));
            }
        }
        done
    }

    /// Loads the map entries of pages. Returns when they are loaded.
    #[inline]
    fn look_up(&mut self, run: PageRun, changes: bool, at: Nanos) -> Nanos {
        let Some(cache) = &mut self.map_cache else { return at };
        if run.count == 0 {
            return at;
        }
        let array = self.nand.as_mut();
        let last = cache.map_page(run.first.0 + run.count - 1);
        let mut known = at;
        for map_page in cache.map_page(run.first.0)..=last {
            if let Some(miss) = cache.look_up(map_page, changes) {
                let freed = miss.write_back.map_or(at, |old| array.program_map(old, at));
                known = known.max(array.read_map(miss.read, freed));
            }
        }
        known
    }
}

/// The pages from a first up to, excluding, an end; all are on the drive.
fn run(first: u64, end: u64) -> PageRun {
    let page = |number: u64| u32::try_from(number).expect("the extent is on the drive");
    PageRun { first: LogicalPage(page(first)), count: page(end.saturating_sub(first)) }
}
