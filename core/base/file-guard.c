/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files that others make shorter. The handler of a signal has no argument, so that what it asks stands in variables of the
 * process: the address ranges that files were mapped to, each with the file that the kernel named for it then. Nobody tells when a file
 * is unmapped: the handler asks the kernel again, so that what lies in a range later is not taken for it. So there are no more ranges
 * than were mapped at a time, give or take those whose addresses nobody has used again. */
#include "core/base/file-private.h"
#include "core/base/format.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_RANGES 1024u

typedef struct Block Block;
struct Block
{
  struct
  {
    atomic_uint changes;         /* odd: being changed; the handler never has the start of one file and the end of another */
    atomic_uintptr_t start, end; /* end 0: none */
    _Atomic guint64 file;        /* as Mapping.file */
    _Atomic (const char *) path; /* in @paths */
  } ranges[N_RANGES];
  _Atomic (Block *) next; /* NULL: the last; never freed, for the handler may be in it */
};

typedef struct
{
  uintptr_t start, end;
  guint64 file; /* device and inode in one number; 0: not a file, or not known */
  const char *path;
} Mapping;

static Block first;
static GMutex adding;
static GStringChunk *paths; /* guarded by @adding; of all files, once each: the handler may read any of them */
static struct sigaction before;
static uintptr_t page_size;
static const char *ends; /* (nullable): the program that is to end, see gantry_file_guard_end() */

/* A line of /proc/self/maps is "start-end mode offset device inode path", of which digits and separators up to the inode are read,
 * byte by byte: in a handler of a signal nothing else may be called. */
typedef struct
{
  guint field; /* 0 start, 1 end, 2 mode, 3 offset, 4 device, 5 inode, 6 the rest */
  guint64 values[7];
} Line;

static guint64
digit (char c)
{
  return c >= '0' && c <= '9' ? (guint64) (c - '0') : (guint64) (c - 'a' + 10);
}

/* Returns: TRUE at the end of a line */
static gboolean
read_byte (Line *line, char c)
{
  guint64 base = line->field == 5 ? 10 : 16;

  if (c == '\n')
    return TRUE;
  if (line->field < 6 && (c == ' ' || (line->field == 0 && c == '-')))
    line->field++;
  else if (line->field < 6 && ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
    line->values[line->field] = line->values[line->field] * base + digit (c);
  return FALSE;
}

/* The mapping that @address lies in. It calls nothing that a handler of a signal may not. */
static gboolean
find_mapping (uintptr_t address, Mapping *mapping)
{
  int maps = open ("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  gboolean found = FALSE;
  Line line = { 0 };
  char buffer[4096];
  ssize_t n;

  while (maps >= 0 && !found && (n = read (maps, buffer, sizeof buffer)) > 0)
    for (ssize_t i = 0; i < n && !found; i++)
      if (read_byte (&line, buffer[i]))
        {
          found = address >= line.values[0] && address < line.values[1];
          if (found)
            *mapping = (Mapping){ (uintptr_t) line.values[0], (uintptr_t) line.values[1], line.values[5] != 0 ? line.values[4] << 40 ^ line.values[5] : 0,
                                  NULL };
          line = (Line){ 0 };
        }
  if (maps >= 0)
    close (maps);
  return found;
}

static void
set_range (Block *block, guint i, const Mapping *to)
{
  atomic_fetch_add (&block->ranges[i].changes, 1);
  atomic_store (&block->ranges[i].start, to->start);
  atomic_store (&block->ranges[i].end, to->end);
  atomic_store (&block->ranges[i].file, to->file);
  atomic_store (&block->ranges[i].path, to->path);
  atomic_fetch_add (&block->ranges[i].changes, 1);
}

/* A range that is being changed holds nothing that is read: what was there is unmapped, what comes is not given out yet. */
static gboolean
get_range (Block *block, guint i, uintptr_t address, Mapping *range)
{
  for (;;)
    {
      guint changes = atomic_load (&block->ranges[i].changes);

      if (changes % 2 == 1)
        return FALSE;
      *range = (Mapping){ atomic_load (&block->ranges[i].start), atomic_load (&block->ranges[i].end), atomic_load (&block->ranges[i].file),
                          atomic_load (&block->ranges[i].path) };
      if (atomic_load (&block->ranges[i].changes) == changes)
        return address >= range->start && address < range->end;
    }
}

void
_gantry_file_guard_add (const char *start, gsize length, const char *path)
{
  Mapping to = { (uintptr_t) start, (uintptr_t) start + length, 0, NULL }, kernels;
  const Mapping none = { 0 };
  g_autofree char *shown = gantry_format_text (path, FALSE); /* the handler writes it to a terminal */
  Block *place = NULL, *last = NULL;
  guint at = 0;

  if (start == NULL || length == 0)
    return;
  if (find_mapping (to.start, &kernels))
    to.file = kernels.file;
  g_mutex_lock (&adding);
  if (paths == NULL)
    paths = g_string_chunk_new (4096);
  to.path = g_string_chunk_insert_const (paths, shown);
  for (Block *block = &first; block != NULL; last = block, block = atomic_load (&block->next))
    for (guint i = 0; i < N_RANGES; i++)
      {
        uintptr_t end = atomic_load (&block->ranges[i].end);

        if (end > to.start && atomic_load (&block->ranges[i].start) < to.end)
          {
            set_range (block, i, &none); /* what was here is unmapped */
            end = 0;
          }
        if (end == 0 && place == NULL)
          {
            place = block;
            at = i;
          }
      }
  if (place == NULL)
    {
      place = g_new0 (Block, 1);
      atomic_store (&last->next, place);
    }
  set_range (place, at, &to);
  g_mutex_unlock (&adding);
}

/* @lost: (out): from the page of @address on, what is gone of a file that lies there now and did when it was mapped */
static gboolean
is_lost (uintptr_t address, Mapping *lost)
{
  Mapping now = { 0 };

  for (Block *block = &first; block != NULL; block = atomic_load (&block->next))
    for (guint i = 0; i < N_RANGES; i++)
      if (get_range (block, i, address, lost))
        {
          if (lost->file != 0 && (!find_mapping (address, &now) || now.file != lost->file))
            return FALSE;
          lost->start = address & ~(page_size - 1);
          lost->end = lost->file != 0 && now.end < lost->end ? now.end : lost->end;
          return TRUE;
        }
  return FALSE;
}

static void
say (const char *text)
{
  if (write (STDERR_FILENO, text, strlen (text)) < 0)
    return; /* nobody is left to tell */
}

/* Zeros take the place of all pages behind the end of the file; what was reading goes on. */
static void
page_is_gone (int number, siginfo_t *info, void *context)
{
  const int number_before = errno; /* that of who was reading */
  Mapping lost;

  if (info->si_code == BUS_ADRERR && is_lost ((uintptr_t) info->si_addr, &lost))
    {
      if (ends != NULL)
        {
          say (ends);
          say (": ");
          say (lost.path);
          say (": changed while it was read, or its disk failed; run it again when what writes the file is done\n");
          _exit (1);
        }
      if (mmap ((void *) lost.start, lost.end - lost.start, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
        {
          errno = number_before;
          return;
        }
    }
  /* Not ours: the access faults again, under who was asked before. */
  sigaction (SIGBUS, &before, NULL);
}

static void
start (const char *program)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      struct sigaction action = { .sa_sigaction = page_is_gone, .sa_flags = SA_SIGINFO };

      ends = g_intern_string (program);
      page_size = (uintptr_t) sysconf (_SC_PAGESIZE);
      sigemptyset (&action.sa_mask);
      sigaction (SIGBUS, &action, &before);
      g_once_init_leave (&once, 1);
    }
}

void
gantry_file_guard_start (void)
{
  start (NULL);
}

void
gantry_file_guard_end (const char *program)
{
  start (program);
}
