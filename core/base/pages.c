/* SPDX-License-Identifier: Apache-2.0 */
/* Large blocks are mappings of their own, with their length in front; the rest comes from the heap. Which pages are there is read
 * from /proc/self/pagemap (Linux, Documentation/admin-guide/mm/pagemap.rst), which everybody may read of himself. */
#include "core/base/pages.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((gsize) 256 << 10)
#define HUGE_PAGE ((gsize) 2 << 20)

/* In front of the block, as long as the alignment. */
typedef struct
{
  gsize mapped; /* bytes, header included; 0: of the heap */
} Header;
G_STATIC_ASSERT (sizeof (Header) <= GANTRY_TENSOR_ALIGNMENT);

static gsize
page_size (void)
{
  return (gsize) sysconf (_SC_PAGESIZE);
}

gpointer
gantry_pages_new_or_null (gsize size)
{
  gsize whole = size + GANTRY_TENSOR_ALIGNMENT;
  guint8 *block;

  g_assert (whole > size);
  if (whole < LARGE)
    {
      block = g_aligned_alloc0 (whole, 1, GANTRY_TENSOR_ALIGNMENT);
      return block + GANTRY_TENSOR_ALIGNMENT;
    }
  block = mmap (NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    return NULL;
  if (whole >= HUGE_PAGE)
    madvise (block, whole, MADV_HUGEPAGE); /* a wish: fewer page faults and table walks */
  ((Header *) block)->mapped = whole;
  return block + GANTRY_TENSOR_ALIGNMENT;
}

gpointer
gantry_pages_new (gsize size)
{
  gpointer memory = gantry_pages_new_or_null (size);

  if (memory == NULL)
    g_error ("%s: failed to allocate %" G_GSIZE_FORMAT " bytes", G_STRLOC, size);
  return memory;
}

gpointer
gantry_pages_new_in_file (gsize size)
{
  gsize whole = size + GANTRY_TENSOR_ALIGNMENT;
  int file = open (g_get_tmp_dir (), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  guint8 *block = MAP_FAILED;

  /* Written in advance: a disk that is full later would be a signal. */
  if (file >= 0 && posix_fallocate (file, 0, (off_t) whole) == 0)
    block = mmap (NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0)
    close (file);
  if (block == MAP_FAILED)
    return NULL;
  ((Header *) block)->mapped = whole;
  return block + GANTRY_TENSOR_ALIGNMENT;
}

void
gantry_pages_free (gpointer memory)
{
  guint8 *block = memory != NULL ? (guint8 *) memory - GANTRY_TENSOR_ALIGNMENT : NULL;

  if (block == NULL)
    return;
  if (((const Header *) block)->mapped == 0)
    g_aligned_free (block);
  else
    munmap (block, ((const Header *) block)->mapped);
}

void
gantry_pages_drop (gconstpointer memory, gsize size)
{
  gsize page = page_size (), first = GPOINTER_TO_SIZE (memory), end = first + size;

  first = (first + page - 1) / page * page;
  end = end / page * page;
  if (end > first)
    madvise (GSIZE_TO_POINTER (first), end - first, MADV_DONTNEED);
}

void
gantry_pages_set_apart (gconstpointer memory, gsize size)
{
  gsize page = page_size (), first = GPOINTER_TO_SIZE (memory), end = (first + size) / page * page;

  first = (first + page - 1) / page * page;
  if (end > first)
    madvise (GSIZE_TO_POINTER (first), end - first, MADV_DONTDUMP);
}

/* Bits 63 and 62 of an entry: present, swapped; 61: of a file. Returns: how many of @n pages, -1: not known */
static gssize
count_pages (gsize first_page, gsize n, gsize *of_files)
{
  enum
  {
    AT_ONCE = 512
  };
  guint64 entries[AT_ONCE];
  int file = open ("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  gssize there = 0;

  for (gsize at = 0; file >= 0 && at < n && there >= 0;)
    {
      gsize wanted = MIN (n - at, AT_ONCE);
      gssize got = pread (file, entries, wanted * sizeof *entries, (off_t) ((first_page + at) * sizeof *entries));

      if (got < (gssize) sizeof *entries)
        there = -1;
      for (gssize i = 0; i < got / (gssize) sizeof *entries; i++)
        {
          there += entries[i] >> 62 != 0;
          *of_files += entries[i] >> 62 != 0 && (entries[i] >> 61 & 1);
        }
      at += got > 0 ? (gsize) got / sizeof *entries : 0;
    }
  if (file < 0)
    return -1;
  close (file);
  return there;
}

gsize
gantry_pages_count (gconstpointer memory, gsize size, GantryPageFacts *facts)
{
  gsize page = page_size (), first = GPOINTER_TO_SIZE (memory) / page;
  gsize n = size > 0 ? (GPOINTER_TO_SIZE (memory) + size - 1) / page - first + 1 : 0;
  gsize of_files = 0;
  gssize there = n > 0 ? count_pages (first, n, &of_files) : 0;

  if (there < 0)
    {
      facts->unknown = TRUE;
      return 0;
    }
  facts->files += of_files * page;
  return (gsize) there * page;
}
