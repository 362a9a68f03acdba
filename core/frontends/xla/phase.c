/* SPDX-License-Identifier: Apache-2.0 */
/* What the names say that JAX gives operations: scopes, and the phases of a training step that it has differentiated. It
 * names each operation after the transformations that made it, the outermost first: "jit(step)/jvp(net)/dot_general" computes what the gradient is of,
 * "jit(step)/transpose(jvp(net))/mul" is of
 * the backward phase, and so is what is computed again there. What is named after neither and reads what they made is the
 * update. Of a text without names the structure tells the same where it can (phase-structure.c). */
#include "core/frontends/xla/xla-private.h"
#include "core/graph/builder-walk.h"
#include <string.h>

const char *
gantry_xla_last_part (const char *name)
{
  const char *last = name;
  guint depth = 0;

  for (const char *c = name; *c != 0; c++)
    if (*c == '[' || *c == '(')
      depth++;
    else if ((*c == ']' || *c == ')') && depth > 0)
      depth--;
    else if (*c == '/' && depth == 0 && c > name)
      last = c + 1;
  return last;
}

guint32
gantry_xla_scope_of (GantryContext *context, const char *name)
{
  const char *last = gantry_xla_last_part (name);
  g_autofree char *path = g_str_has_suffix (last, ")") ? g_strdup (name) : last > name ? g_strndup (name, (gsize) (last - name) - 1) : NULL;

  return path != NULL ? gantry_context_scope (context, path) : 0;
}

typedef enum
{
  SAYS_NOTHING = 1,
  SAYS_FORWARD,
  SAYS_BACKWARD,
} Says;

/* The outermost derivative decides: the gradient of what has a gradient in it is that of its forward phase. */
static Says
read_scope (const char *path)
{
  static const char transposed[] = "transpose(";
  const gsize length = strlen (transposed);
  const char *derivative = strstr (path, "jvp(");

  if (derivative == NULL)
    return SAYS_NOTHING;
  if ((gsize) (derivative - path) >= length && strncmp (derivative - length, transposed, length) == 0)
    return SAYS_BACKWARD;
  return SAYS_FORWARD;
}

static GantryPhase
phase_of (GantryBuilder *b, const GantryNode *node, gpointer user_data)
{
  GHashTable *said = user_data;
  Says says = (Says) GPOINTER_TO_INT (g_hash_table_lookup (said, GUINT_TO_POINTER (node->scope)));
  GantryPhase phase = GANTRY_PHASE_FORWARD;

  if (says == 0)
    {
      says = read_scope (gantry_context_scope_path (gantry_builder_context (b), node->scope));
      g_hash_table_insert (said, GUINT_TO_POINTER (node->scope), GINT_TO_POINTER (says));
    }
  if (says != SAYS_NOTHING)
    return says == SAYS_BACKWARD ? GANTRY_PHASE_BACKWARD : GANTRY_PHASE_FORWARD;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_builder_node (b, gantry_builder_operand_of (b, node->id, i));

      if (operand != NULL)
        phase = MAX (phase, (GantryPhase) operand->phase);
    }
  /* What has no name at all goes with what it reads: copies that a compiler inserts. */
  return phase != GANTRY_PHASE_FORWARD && node->scope != 0 ? GANTRY_PHASE_UPDATE : phase;
}

static gboolean
has_derivatives (GantryBuilder *b, guint32 entry)
{
  const GantryNode *node;

  for (guint i = 0; (node = gantry_builder_node_at (b, entry, i)) != NULL; i++)
    if (node->scope != 0 && read_scope (gantry_context_scope_path (gantry_builder_context (b), node->scope)) != SAYS_NOTHING)
      return TRUE;
  return FALSE;
}

void
gantry_xla_mark_phases (GantryBuilder *b, guint32 entry)
{
  g_autoptr (GHashTable) said = g_hash_table_new (NULL, NULL);

  if (has_derivatives (b, entry))
    gantry_builder_choose_phases (b, phase_of, said);
  else
    gantry_xla_mark_phases_by_structure (b, entry);
}
