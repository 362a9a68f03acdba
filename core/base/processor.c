/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction cpuid: maker, model and features, and which registers the system saves. */
#include "core/base/processor.h"
#if defined __x86_64__
#include <cpuid.h>

#define OSXSAVE (1u << 27)

/* Registers without whose saving AVX and AVX-512 cannot be used. */
static unsigned
saved_registers (unsigned features)
{
  unsigned low = 0, high;

  if (features & OSXSAVE)
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

char *
gantry_processor_identity (void)
{
  unsigned most = 0, maker[3] = { 0 }, model = 0, others, c1 = 0, d1 = 0, a7 = 0, b7 = 0, c7 = 0, d7 = 0;

  __get_cpuid (0, &most, &maker[0], &maker[2], &maker[1]);
  __get_cpuid (1, &model, &others, &c1, &d1);
  __get_cpuid_count (7, 0, &a7, &b7, &c7, &d7);
  return g_strdup_printf ("%.12s %08x %08x-%08x-%08x-%08x-%08x %x", (const char *) maker, model, c1, d1, b7, c7, d7, saved_registers (c1));
}
#else
#include <sys/utsname.h>

char *
gantry_processor_identity (void)
{
  struct utsname name;

  return g_strdup (uname (&name) == 0 ? name.machine : "a processor");
}
#endif
