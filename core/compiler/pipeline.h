/* SPDX-License-Identifier: Apache-2.0 */
/* The list of passes, for who shows it. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** One entry of the list of passes, in the order in which they run. */
typedef struct
{
  const char *name; /* "cse-2": unique */
  const char *title;
  const char *description;
  gboolean required;
  gboolean training; /* runs only where a training step is made */
} GantryPassInfo;

/** All there are: a compilation runs those that apply to it. Returns: (array length=n) (transfer none): static */
const GantryPassInfo *gantry_compiler_passes (guint *n);

G_END_DECLS
