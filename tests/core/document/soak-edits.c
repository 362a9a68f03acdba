/* SPDX-License-Identifier: Apache-2.0 */
/* Random edits with undo and redo in one document; then a fresh one gets those edits that are not taken back, in their order.
 * Both have to be the same: settings, clicks, variants, program, prediction and plan. */
#include "core/document/document-private.h"
#include "tests/core/document/document-test.h"
#include "tests/soak.h"
#include <stdio.h>
#include <string.h>

#define EDITS 40

typedef enum
{
  EDIT_PASS,
  EDIT_POLICY,
  EDIT_LIMIT,
  EDIT_MATH,
  EDIT_TRAINING,
  EDIT_PLACE,
  EDIT_CLEAR,
  EDIT_KEEP_VARIANT,
  EDIT_LOAD_VARIANT,
  EDIT_RENAME_VARIANT,
  EDIT_DELETE_VARIANT,
  N_EDITS
} Kind;

/* An edit so that it can be done again in another document: a value is named by its key. */
typedef struct
{
  Kind kind;
  guint a, b;
  guint64 key;
} Edit;

static const char *const passes[] = { "fuse", "cse", "simplify", "fold" };
static const char *const policies[] = { "policy nothing_saveable", "op:dot keep; * recompute", "role:state offload", NULL };
static const guint64 limits[] = { 0, 24 << 10, 1 << 20, 1 << 30 };
static const char *const variants[] = { "A", "B", "C" };
static const char *const programs[] = { "mlp.gir", "layers-tiny.gir", "lstm.gir" };

static void
train (GantryDocument *document, guint how)
{
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.optimizer = how == 1 ? GANTRY_OPTIMIZER_SGD : GANTRY_OPTIMIZER_ADAM;
  gantry_document_set_training (document, how > 0 ? &options : NULL);
  gantry_training_options_clear (&options);
}

static void
place (GantryDocument *document, const Edit *edit)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (document);
  const GantryModule *module = gantry_compilation_module (compilation);
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; compilation->keys != NULL && i < entry->n_nodes; i++)
    if (compilation->keys[entry->first_node + i] == edit->key)
      {
        gantry_document_set_placement (document, doc_last (document), &module->nodes[entry->first_node + i].id, 1, (int) edit->a - 1, NULL);
        return;
      }
}

static GantryVariant *
find_variant (GantryDocument *document, const char *name)
{
  GPtrArray *list = gantry_document_get_variants (document);

  for (guint i = 0; i < list->len; i++)
    if (g_strcmp0 (((const GantryVariant *) g_ptr_array_index (list, i))->name, name) == 0)
      return g_ptr_array_index (list, i);
  return NULL;
}

static void
edit_variant (GantryDocument *document, const Edit *edit)
{
  const char *name = variants[edit->a % G_N_ELEMENTS (variants)], *other = variants[edit->b % G_N_ELEMENTS (variants)];
  GantryVariant *found = find_variant (document, name);

  if (edit->kind == EDIT_KEEP_VARIANT)
    {
      g_autoptr (GantryVariant) variant = gantry_document_make_variant (document, name);

      gantry_document_add_variant (document, variant);
    }
  else if (found != NULL && edit->kind == EDIT_LOAD_VARIANT)
    gantry_document_load_variant (document, found);
  else if (found != NULL && edit->kind == EDIT_DELETE_VARIANT)
    gantry_document_delete_variant (document, name);
  else if (found != NULL && edit->kind == EDIT_RENAME_VARIANT && find_variant (document, other) == NULL)
    gantry_document_rename_variant (document, name, other);
}

static void
apply (GantryDocument *document, const Edit *edit)
{
  if (edit->kind >= EDIT_PLACE) /* what is seen now decides what they do */
    doc_wait (document);
  switch (edit->kind)
    {
    case EDIT_PASS: gantry_document_set_pass_enabled (document, passes[edit->a % 4], edit->b % 2); break;
    case EDIT_POLICY: gantry_document_set_policy (document, policies[edit->a % 4], NULL); break;
    case EDIT_LIMIT: gantry_document_set_limit (document, limits[edit->a % 4]); break;
    case EDIT_MATH: gantry_document_set_finite_math (document, edit->a % 2); break;
    case EDIT_TRAINING: train (document, edit->a % 3); break;
    case EDIT_PLACE: place (document, edit); break;
    case EDIT_CLEAR: gantry_document_clear_placements (document); break;
    default: edit_variant (document, edit); break;
    }
}

static guint64
key_of (const GantryCompilation *compilation, guint32 node)
{
  const GantryModule *module = gantry_compilation_module (compilation);
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (module->nodes[entry->first_node + i].id == node)
      return compilation->keys[entry->first_node + i];
  return 0;
}

static Edit
draw (GantryDocument *document, GRand *rand)
{
  Edit edit = { (Kind) g_rand_int_range (rand, 0, N_EDITS), (guint) g_rand_int_range (rand, 0, 12), (guint) g_rand_int_range (rand, 0, 12), 0 };
  const GantryCandidate *candidates;
  guint n = 0, position;

  if (g_rand_int_range (rand, 0, 3) == 0)
    edit.kind = EDIT_PLACE;
  if (edit.kind != EDIT_PLACE)
    return edit;
  doc_wait (document);
  candidates = gantry_document_get_planner (document) != NULL ? gantry_planner_candidates (gantry_document_get_planner (document), &n) : NULL;
  edit.a %= GANTRY_N_PLACEMENTS + 1;
  if (n == 0)
    return edit;
  position = (guint) g_rand_int_range (rand, 0, (gint32) n);
  edit.key = key_of (gantry_document_get_compilation (document), candidates[position].node);
  return edit;
}

/* The history as the document has it: an edit that became part of the last stands in the same entry. */
static void
note (GPtrArray *history, const GantryDocument *document, const Edit *edit)
{
  GArray *entry;

  g_ptr_array_set_size (history, (gint) MIN (history->len, document->edits->len));
  if (document->n_done == 0)
    return;
  if (history->len < document->n_done)
    g_ptr_array_add (history, g_array_new (FALSE, FALSE, sizeof (Edit)));
  g_assert_cmpuint (history->len, >=, document->n_done);
  entry = g_ptr_array_index (history, document->n_done - 1);
  g_array_append_vals (entry, edit, 1);
}

static void
edit_at_random (GantryDocument *document, GPtrArray *history, GRand *rand)
{
  for (guint i = 0; i < EDITS; i++)
    {
      gint what = g_rand_int_range (rand, 0, 10);

      if (what < 2)
        gantry_document_undo (document);
      else if (what == 2)
        gantry_document_redo (document);
      else
        {
          Edit edit = draw (document, rand);
          guint before = document->n_done;
          GantryState *state = document->state;

          apply (document, &edit);
          if (document->state == state && document->n_done == before)
            continue;                         /* it changed nothing */
          if (document->n_done == before + 1) /* what was undone cannot come back */
            g_ptr_array_set_size (history, (gint) before);
          note (history, document, &edit);
        }
      for (gint k = g_rand_int_range (rand, 0, 3); k > 0; k--)
        g_main_context_iteration (NULL, FALSE);
    }
  doc_wait (document);
}

static char *
different_variants (GantryDocument *a, GantryDocument *b)
{
  GPtrArray *x = gantry_document_get_variants (a), *y = gantry_document_get_variants (b);

  if (x->len != y->len)
    return g_strdup_printf ("%u variants, fresh %u", x->len, y->len);
  for (guint i = 0; i < x->len; i++)
    {
      const GantryVariant *v = g_ptr_array_index (x, i), *w = g_ptr_array_index (y, i);

      if (g_strcmp0 (v->name, w->name) != 0 || g_strcmp0 (v->policy, w->policy) != 0 || v->limit != w->limit || !gantry_choices_equal (v->choices, w->choices)
          || memcmp (&v->figures, &w->figures, sizeof v->figures) != 0)
        return g_strdup_printf ("variant %u, '%s', differs", i, v->name);
    }
  return NULL;
}

static guint
n_nodes (GantryDocument *document)
{
  return gantry_compilation_module (gantry_document_get_compilation (document))->n_nodes;
}

/* (transfer full) (nullable): NULL: nothing */
static char *
different (GantryDocument *a, GantryDocument *b)
{
  const GantryCompileSettings *s = gantry_document_get_settings (a), *t = gantry_document_get_settings (b);
  const GantryPlan *p = gantry_document_get_plan (a), *q = gantry_document_get_plan (b);
  const GantryForecast *f = gantry_document_get_prediction (a), *g = gantry_document_get_prediction (b);

  if (!gantry_compile_settings_same_program (s, t) || !gantry_compile_settings_same_plan (s, t))
    return g_strdup ("the settings differ");
  if (n_nodes (a) != n_nodes (b))
    return g_strdup ("the programs differ");
  if ((p == NULL) != (q == NULL)
      || (p != NULL
          && (p->n_steps != q->n_steps || p->total_us != q->total_us || p->copied_bytes != q->copied_bytes
              || p->arena_bytes[GANTRY_MEMORY_DEVICE] != q->arena_bytes[GANTRY_MEMORY_DEVICE])))
    return g_strdup ("the plans differ");
  if (f->prediction->peak_bytes != g->prediction->peak_bytes || f->prediction->step_us != g->prediction->step_us)
    return g_strdup ("the predictions differ");
  return different_variants (a, b);
}

static void
write_entry (GString *text, const GArray *entry)
{
  for (guint i = 0; i < entry->len; i++)
    {
      const Edit *edit = &g_array_index (entry, Edit, i);

      g_string_append_printf (text, "%u %u %u %016" G_GINT64_MODIFIER "x\n", edit->kind, edit->a, edit->b, edit->key);
    }
}

static gboolean
try_case (const SoakOptions *options, guint64 number)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (soak_case_seed (options, number));
  const char *program = programs[number % G_N_ELEMENTS (programs)];
  gboolean trains = g_rand_boolean (rand);
  g_autoptr (GantryDocument) document = doc_open (program, trains), fresh = doc_open (program, trains);
  g_autoptr (GPtrArray) history = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *difference = NULL;

  edit_at_random (document, history, rand);
  for (guint i = 0; i < document->n_done; i++)
    {
      const GArray *entry = g_ptr_array_index (history, i);

      for (guint k = 0; k < entry->len; k++)
        apply (fresh, &g_array_index (entry, Edit, k));
      write_entry (text, entry);
    }
  doc_wait (fresh);
  difference = different (document, fresh);
  if (difference != NULL)
    soak_report (options, number, difference, text->str);
  return difference == NULL;
}

int
main (int argc, char **argv)
{
  SoakOptions options;
  guint64 passed = 0, failed = 0;

  if (!soak_options_read (&options, &argc, &argv, "- random edits with undo and redo against a fresh document"))
    return 2;
  for (guint64 i = 0; soak_goes_on (&options, passed + failed); i++)
    if (try_case (&options, i))
      passed++;
    else
      failed++;
  soak_options_clear (&options);
  return soak_end (passed, failed, 0);
}
