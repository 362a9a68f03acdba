/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files that others make shorter. The handler of a signal has no argument, so that what it asks stands in variables of the
 * process: the address ranges that were mapped last. A range whose file was unmapped does no harm: what lies there later and faults
 * is a mapped file too. */
#include "core/base/file-private.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_RANGES 1024u

static struct
{
  atomic_uintptr_t start, end;
} ranges[N_RANGES];
static atomic_uint n_ranges;
static struct sigaction before;
static uintptr_t page_size;

void
_gantry_file_guard_add (const char *start, gsize length)
{
  guint i;

  if (start == NULL || length == 0)
    return;
  i = atomic_fetch_add (&n_ranges, 1) % N_RANGES;
  atomic_store (&ranges[i].end, 0); /* never a range of two files */
  atomic_store (&ranges[i].start, (uintptr_t) start);
  atomic_store (&ranges[i].end, (uintptr_t) start + length);
}

static gboolean
is_mapped (uintptr_t address)
{
  for (guint i = 0; i < N_RANGES; i++)
    if (address >= atomic_load (&ranges[i].start) && address < atomic_load (&ranges[i].end))
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
