// SPDX-License-Identifier: GPL-2.0
/*
 * ssdlab: tells the drive whose bytes a write carries.
 *
 * A virtio-blk request has a field of 32 bits for a priority that drives do not use
 * (VIRTIO 1.2, 5.2.6). The lab kernel puts there how many of the request's sectors are of
 * directories and how many are of the filesystem's own structures; the rest are of files. It also
 * says whether the request has to be safe when it is done (FUA), which VIRTIO cannot.
 * Where the data lie in memory and what they are is not changed by it.
 */
#include <linux/blkdev.h>
#include <linux/blk-mq.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/stat.h>
#include <ssdlab.h>

/* The field. A priority has at most 16 bits, so the highest tells the two apart. */
#define ORIGIN_TOLD		(1U << 31)
#define ORIGIN_META		(1U << 30)
#define ORIGIN_SYNC		(1U << 29)
#define ORIGIN_FUA		(1U << 28)
#define ORIGIN_DIRECTORY_SHIFT	14
#define ORIGIN_MOST		((1U << ORIGIN_DIRECTORY_SHIFT) - 1)

enum owner { OWNER_FILE, OWNER_DIRECTORY, OWNER_FILESYSTEM, OWNERS };

static enum owner owner_of(struct page *page)
{
	struct folio *folio = page_folio(page);
	struct address_space *mapping = folio_mapping(folio);
	struct inode *inode;

	if (!mapping) {
		/* A program's own memory (direct I/O) or zeros; all else is a buffer. */
		if (is_zero_pfn(page_to_pfn(page)))
			return OWNER_FILE;
		return !folio_test_slab(folio) && folio_test_anon(folio) ? OWNER_FILE : OWNER_FILESYSTEM;
	}
	inode = mapping->host;
	if (S_ISDIR(inode->i_mode) || S_ISLNK(inode->i_mode))
		return OWNER_DIRECTORY;
	/* Filesystems keep maps and trees in inodes, some of them regular, that nobody can write to. */
	if (S_ISREG(inode->i_mode) && inode->i_fop && inode->i_fop->write_iter)
		return OWNER_FILE;
	return OWNER_FILESYSTEM;
}

unsigned int ssdlab_origin(struct request *rq)
{
	unsigned int bytes[OWNERS] = { 0 }, origin = ORIGIN_TOLD;
	struct req_iterator iter;
	struct bio_vec part;

	if (rq->cmd_flags & REQ_META)
		origin |= ORIGIN_META;
	if (rq->cmd_flags & REQ_SYNC)
		origin |= ORIGIN_SYNC;
	if (rq->cmd_flags & REQ_FUA)
		origin |= ORIGIN_FUA;
	if (req_op(rq) != REQ_OP_WRITE)
		return origin;
	rq_for_each_segment(part, rq, iter)
		bytes[owner_of(part.bv_page)] += part.bv_len;
	origin |= min(bytes[OWNER_DIRECTORY] >> SECTOR_SHIFT, ORIGIN_MOST) << ORIGIN_DIRECTORY_SHIFT;
	origin |= min(bytes[OWNER_FILESYSTEM] >> SECTOR_SHIFT, ORIGIN_MOST);
	return origin;
}
