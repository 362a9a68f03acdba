/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded into a program (LD_PRELOAD): 4 MiB of code that no plan knows of. */
#include <string.h>
#include <sys/mman.h>

#define BYTES ((size_t) 4 << 20)

static void __attribute__ ((constructor)) map_code (void)
{
  void *pages = mmap (NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (pages == MAP_FAILED)
    return;
  memset (pages, 0xcc, BYTES);
  mprotect (pages, BYTES, PROT_READ | PROT_EXEC);
}
