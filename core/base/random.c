/* SPDX-License-Identifier: Apache-2.0 */
/* The hash FNV-1a (Fowler, Noll, Vo) of the name, and the generator splitmix64 (Steele, Lea, Flood 2014) at a place. */
#include "core/base/random.h"

static guint64
fnv1a64 (const char *text)
{
  guint64 hash = 0xcbf29ce484222325u;

  for (; *text != '\0'; text++)
    hash = (hash ^ (guint8) *text) * 0x100000001b3u;
  return hash;
}

static guint64
splitmix64 (guint64 x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

guint64
gantry_random_start (const char *name, gint64 seed)
{
  return fnv1a64 (name) + (guint64) seed * 0x9e3779b97f4a7c15u;
}

double
gantry_random_at (guint64 start, guint64 index)
{
  return (double) (splitmix64 (start + index) >> 40) / 16777216.0;
}
