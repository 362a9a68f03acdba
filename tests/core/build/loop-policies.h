/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that place what loops save, for tests that hold under each: {N} stands for the name of a checkpoint. */
#pragma once
#include <glib.h>

static const char *const loop_policies[] = {
  "policy everything_saveable",
  "policy nothing_saveable",
  "policy dots_saveable",
  "policy dots_with_no_batch_dims_saveable",
  "policy offload_dot_with_no_batch_dims",
  "policy save_only_these_names({N})",
  "policy save_anything_except_these_names({N})",
  "policy save_any_names_but_these({N})",
  "policy save_and_offload_only_these_names([], [{N}])",
  "policy save_from_both_policies(dots_saveable, save_only_these_names({N}))",
  "* recompute",
  "role:residual recompute",
  "role:residual offload",
  "name:{N} recompute",
  "name:{N} offload",
  "role:parameter offload; role:residual recompute",
  "role:state offload; policy nothing_saveable",
  "op:tanh recompute; class:contraction offload",
};

/** Rule @i for programs whose checkpoint is called @name. (transfer full) */
static inline char *
loop_policy (guint i, const char *name)
{
  GString *text = g_string_new (loop_policies[i]);

  g_string_replace (text, "{N}", name, 0);
  return g_string_free (text, FALSE);
}
