/* SPDX-License-Identifier: Apache-2.0 */
/* Computations: a function each, or, where a fusion names it, nodes in place. */
#include "core/frontends/xla/hlo-body-private.h"

static gint64
parameter_number (const HloInstruction *inst)
{
  g_autofree char *text = g_strndup (inst->operands.at, MIN (inst->operands.length, 20));
  char *end;
  gint64 number = g_ascii_strtoll (text, &end, 10);

  return end == text ? -1 : number;
}

void
gantry_hlo_write_parameter (HloBody *body, const HloInstruction *inst, HloAttributes *a)
{
  Hlo *h = body->h;
  HloValue *value = gantry_hlo_value_new (body, inst->type);
  gint64 number = parameter_number (inst);
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (body->given != NULL && number >= 0 && number < body->n_given && body->given[number].n == value->n)
    *value = body->given[number];
  else if (body->given != NULL || number < 0)
    gantry_hlo_fail_at (h, inst, "parameter %" G_GINT64_FORMAT " is not given", number);
  else
    {
      guint32 attrs = gantry_attr_list_end (g_steal_pointer (&a->attrs));

      gantry_hlo_leaf_types (h, inst->type, types);
      for (guint i = 0; i < types->len; i++)
        {
          g_autofree char *name = value->n == 1 ? g_strdup (gantry_context_string (h->context, inst->name))
                                                : g_strdup_printf ("%s.%u", gantry_context_string (h->context, inst->name), i);

          gantry_builder_set_name (h->b, gantry_context_intern (h->context, name));
          value->ids[i] = gantry_builder_add_typed (h->b, GANTRY_OP_PARAMETER, NULL, 0, attrs, g_array_index (types, guint32, i));
        }
      if (body->parameters != NULL)
        g_ptr_array_add (body->parameters, value);
    }
  g_hash_table_insert (body->values, GSIZE_TO_POINTER (inst->key), value);
}

static int
by_number (gconstpointer a, gconstpointer b)
{
  gint64 x = parameter_number (*(HloInstruction *const *) a), y = parameter_number (*(HloInstruction *const *) b);

  return x < y ? -1 : x > y;
}

/* A computation with n parameters numbers them from 0 to n - 1. What a fusion gives is looked up by number instead. */
static void
check_numbers (HloBody *body, const GPtrArray *parameters)
{
  for (guint i = 0; body->given == NULL && i < parameters->len; i++)
    {
      const HloInstruction *inst = g_ptr_array_index (parameters, i);

      if (parameter_number (inst) == (gint64) i)
        continue;
      gantry_hlo_fail_at (body->h, inst, "parameter(%.*s) of a computation with %u parameters, which are numbered from 0 to %u",
                          (int) MIN (inst->operands.length, 20), inst->operands.at, parameters->len, parameters->len - 1);
      return;
    }
}

/* Parameters first, by number. Returns: what the computation returns */
static HloValue *
write_nodes (HloBody *body, const GArray *instructions)
{
  g_autoptr (GPtrArray) parameters = g_ptr_array_new ();
  const HloInstruction *root = NULL;
  HloValue *value = NULL;

  for (guint i = 0; i < instructions->len; i++)
    {
      HloInstruction *inst = &g_array_index (instructions, HloInstruction, i);

      if (gantry_xla_span_is (inst->opcode, "parameter"))
        g_ptr_array_add (parameters, inst);
      if (inst->root || (i + 1 == instructions->len && root == NULL))
        root = inst;
    }
  g_ptr_array_sort (parameters, by_number);
  check_numbers (body, parameters);
  for (guint i = 0; i < parameters->len && body->h->s.error == NULL; i++)
    gantry_hlo_write_instruction (body, g_ptr_array_index (parameters, i));
  for (guint i = 0; i < instructions->len && body->h->s.error == NULL; i++)
    if (!gantry_xla_span_is (g_array_index (instructions, HloInstruction, i).opcode, "parameter"))
      gantry_hlo_write_instruction (body, &g_array_index (instructions, HloInstruction, i));
  if (root != NULL)
    value = g_hash_table_lookup (body->values, GSIZE_TO_POINTER (root->key));
  return value != NULL ? value : gantry_hlo_value_new (body, 0);
}

/* The name of a fusion is a scope in that of the fusion. */
HloValue *
gantry_hlo_write_fusion (HloBody *outer, const HloInstruction *inst, HloAttributes *a, HloValue *const *operands, guint n)
{
  Hlo *h = outer->h;
  HloComputation *c = gantry_hlo_computation (h, a->fusion);
  g_autofree HloValue *given = g_new0 (HloValue, n + 1);
  const char *scope = outer->scope != NULL ? outer->scope : gantry_context_scope_path (h->context, a->scope);
  g_autofree char *path = g_strdup_printf ("%s%s%s", scope, *scope != 0 ? "/" : "", gantry_context_string (h->context, inst->name));
  GantryXlaScan before = h->s;
  HloBody body = { .h = h, .arena = outer->arena, .given = given, .n_given = n, .scope = path };
  g_autoptr (GArray) instructions = NULL;
  HloValue *value;

  if (c->fused || !gantry_xla_scan_enter (&h->s))
    return gantry_hlo_write_call (outer, inst, a, a->fusion, operands, n);
  c->fused = TRUE;
  for (guint i = 0; i < n; i++)
    given[i] = *operands[i];
  body.values = g_hash_table_new (NULL, NULL);
  instructions = gantry_hlo_read_body (h, c);
  value = write_nodes (&body, instructions);
  g_hash_table_unref (body.values);
  before.error = h->s.error;
  if (before.error != NULL)
    before.at = before.end;
  h->s = before;
  return value;
}

static void
donate (HloBody *body, const HloValue *result)
{
  Hlo *h = body->h;
  g_autoptr (GArray) donations = g_array_new (FALSE, FALSE, sizeof (XlaDonation));

  for (guint i = 0; i < h->aliases->len; i++)
    {
      const HloAlias *alias = &g_array_index (h->aliases, HloAlias, i);
      const HloValue *parameter = alias->module == h->module && alias->parameter >= 0 && alias->parameter < body->parameters->len
                                    ? g_ptr_array_index (body->parameters, alias->parameter)
                                    : NULL;
      gint64 leaf = parameter != NULL ? gantry_hlo_leaf_at (h, parameter->type, &alias->leaf) : -1;
      XlaDonation donation = { .result = alias->any ? -1 : gantry_hlo_leaf_at (h, result->type, &alias->output) };

      if (leaf < 0 || leaf >= parameter->n || (!alias->any && donation.result < 0))
        continue;
      donation.parameter = parameter->ids[leaf];
      g_array_append_val (donations, donation);
    }
  gantry_xla_donate (h->b, donations, result->ids, result->n);
}

static void
write_function (Hlo *h, HloComputation *c, gboolean entry)
{
  g_autoptr (GantryArena) arena = gantry_arena_new ();
  g_autoptr (GPtrArray) parameters = g_ptr_array_new ();
  HloBody body = { .h = h, .arena = arena, .parameters = entry ? parameters : NULL, .values = g_hash_table_new (NULL, NULL) };
  g_autoptr (GArray) instructions = NULL;
  HloValue *value;

  c->written = TRUE;
  gantry_builder_begin (h->b, gantry_context_string (h->context, c->name), c->function);
  instructions = gantry_hlo_read_body (h, c);
  value = write_nodes (&body, instructions);
  if (entry && h->s.error == NULL)
    donate (&body, value);
  gantry_builder_end (h->b, value->ids, h->s.error == NULL && instructions->len > 0 ? value->n : 0);
  g_hash_table_unref (body.values);
}

void
gantry_hlo_write (Hlo *h, HloComputation *entry)
{
  guint left = h->computations->len;

  entry->wanted = TRUE;
  write_function (h, entry, TRUE);
  while (h->s.error == NULL)
    {
      HloComputation *c = NULL;

      if (!g_queue_is_empty (h->wanted))
        c = gantry_hlo_computation (h, GPOINTER_TO_INT (g_queue_pop_head (h->wanted)));
      else if (left > 0)
        c = gantry_hlo_computation (h, (gint) --left); /* callers stand behind what they call */
      else
        return;
      if (!c->written && (c->wanted || !c->fused))
        write_function (h, c, FALSE);
    }
}
