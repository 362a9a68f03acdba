/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files that others make shorter. The handler of a signal has no argument, so that what it asks stands in variables of the
 * process: the address ranges that files were mapped to. A range whose file was unmapped does no harm: what lies there later and faults
 * is a mapped file too, which takes the range's place where it is one of ours. So there are no more ranges than were mapped at a time,
 * give or take those whose addresses nobody has used again. */
#include "core/base/file-private.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
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
  } ranges[N_RANGES];
  _Atomic (Block *) next; /* NULL: the last; never freed, for the handler may be in it */
};
static Block first;
static GMutex adding;
static struct sigaction before;
static uintptr_t page_size;

static void
set_range (Block *block, guint i, uintptr_t start, uintptr_t end)
{
  atomic_fetch_add (&block->ranges[i].changes, 1);
  atomic_store (&block->ranges[i].start, start);
  atomic_store (&block->ranges[i].end, end);
  atomic_fetch_add (&block->ranges[i].changes, 1);
}

/* A range that is being changed holds nothing that is read: what was there is unmapped, what comes is not given out yet. */
static gboolean
is_within (Block *block, guint i, uintptr_t address)
{
  for (;;)
    {
      guint changes = atomic_load (&block->ranges[i].changes);
      uintptr_t start = atomic_load (&block->ranges[i].start), end = atomic_load (&block->ranges[i].end);

      if (changes % 2 == 1)
        return FALSE;
      if (atomic_load (&block->ranges[i].changes) == changes)
        return address >= start && address < end;
    }
}

void
_gantry_file_guard_add (const char *start, gsize length)
{
  const uintptr_t from = (uintptr_t) start, to = from + length;
  Block *place = NULL, *last = NULL;
  guint at = 0;

  if (start == NULL || length == 0)
    return;
  g_mutex_lock (&adding);
  for (Block *block = &first; block != NULL; last = block, block = atomic_load (&block->next))
    for (guint i = 0; i < N_RANGES; i++)
      {
        uintptr_t end = atomic_load (&block->ranges[i].end);

        if (end > from && atomic_load (&block->ranges[i].start) < to)
          set_range (block, i, 0, end = 0); /* what was here is unmapped */
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
  set_range (place, at, from, to);
  g_mutex_unlock (&adding);
}

static gboolean
is_mapped (uintptr_t address)
{
  for (Block *block = &first; block != NULL; block = atomic_load (&block->next))
    for (guint i = 0; i < N_RANGES; i++)
      if (is_within (block, i, address))
        return TRUE;
  return FALSE;
}

/* A page of zeros takes the place of the one that is not there; what was reading goes on. */
static void
page_is_gone (int number, siginfo_t *info, void *context)
{
  uintptr_t page = (uintptr_t) info->si_addr & ~(page_size - 1);

  if (info->si_code == BUS_ADRERR && is_mapped ((uintptr_t) info->si_addr)
      && mmap ((void *) page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
    return;
  /* Not ours: the access faults again, under who was asked before. */
  sigaction (SIGBUS, &before, NULL);
}

void
gantry_file_guard_start (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      struct sigaction action = { .sa_sigaction = page_is_gone, .sa_flags = SA_SIGINFO };

      page_size = (uintptr_t) sysconf (_SC_PAGESIZE);
      sigemptyset (&action.sa_mask);
      sigaction (SIGBUS, &action, &before);
      g_once_init_leave (&once, 1);
    }
}
