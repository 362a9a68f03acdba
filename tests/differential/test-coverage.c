/* SPDX-License-Identifier: Apache-2.0 */
/* What random programs are made of and run as: every operation, element type, layout of a convolution and batch, and
 * each choice of a configuration with each back end. What no program holds is a list here, with its reason. */
#include "core/compiler/compiler.h"
#include "core/graph/operation.h"
#include "core/plan/placement.h"
#include "tests/differential/differential.h"
#include <string.h>

#define N_PROGRAMS 6000
#define N_CONFIGURED 1000
#define SEED 1

/* Fusions are the compiler's own; a custom call is a Python program's call of its host, which no other program has. */
static const guint16 not_made[] = { GANTRY_OP_FUSION, GANTRY_OP_CUSTOM_CALL, GANTRY_OP_REMATERIALIZE }; /* two of them passes make */

typedef struct
{
  guint64 operations[GANTRY_OP_FOREIGN], elements[GANTRY_N_ELEMENT_TYPES], batches[4], forms[64];
  guint64 channels[65]; /* in or out of a convolution */
  guint64 slices[3];    /* of channels: from a block's edge for 16, for 8, from elsewhere */
  guint64 steps;        /* of training */
} Seen;

typedef enum
{
  FORM_1D,
  FORM_2D,
  FORM_3D,
  FORM_STRIDED,
  FORM_TRANSPOSED,
  FORM_DILATED,
  FORM_GROUPED,
  FORM_DEPTHWISE,
  FORM_BIAS,
  FORM_OF_SLICE,         /* its operand is a slice of channels */
  FORM_OF_CONCATENATION, /* or a concatenation of them */
  N_FORMS
} Form;

static const char *const form_names[N_FORMS] = {
  "1-D", "2-D", "3-D", "strided", "transposed", "dilated", "grouped", "depthwise", "bias", "of a slice", "of a concatenation",
};

static gboolean
any_above_one (GantryContext *context, const GantryNode *node, const char *name)
{
  gsize n;
  const gint64 *values = gantry_attrs_ints (context, node->attrs, name, &n);

  for (gsize i = 0; i < n; i++)
    if (values[i] > 1)
      return TRUE;
  return FALSE;
}

static void
count_convolution (Seen *seen, const GantryModule *module, const GantryNode *node)
{
  GantryContext *context = module->context;
  const GantryType *x = gantry_node_operand_type (module, node, 0), *y = gantry_node_type (module, node);
  gint64 groups = gantry_attrs_int (context, node->attrs, "feature_group_count", 1);
  guint16 before = gantry_node_operand (module, node, 0)->op;

  seen->forms[FORM_1D + x->rank - 3]++;
  seen->forms[FORM_STRIDED] += any_above_one (context, node, "window_strides");
  seen->forms[FORM_TRANSPOSED] += any_above_one (context, node, "lhs_dilation");
  seen->forms[FORM_DILATED] += any_above_one (context, node, "rhs_dilation");
  seen->forms[FORM_GROUPED] += groups > 1 && groups < x->dims[1];
  seen->forms[FORM_DEPTHWISE] += groups > 1 && groups == x->dims[1];
  seen->forms[FORM_BIAS] += node->n_operands > 2;
  seen->forms[FORM_OF_SLICE] += before == GANTRY_OP_SLICE;
  seen->forms[FORM_OF_CONCATENATION] += before == GANTRY_OP_CONCATENATE;
  seen->channels[MIN (x->dims[1], 64)]++;
  seen->channels[MIN (y->dims[1], 64)]++;
}

static void
count_node (Seen *seen, const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);
  gsize n;
  const gint64 *starts;

  seen->operations[node->op]++;
  if (type->kind == GANTRY_TYPE_TENSOR)
    seen->elements[type->element]++;
  if (node->op == GANTRY_OP_CONVOLUTION)
    count_convolution (seen, module, node);
  if (node->op != GANTRY_OP_SLICE || type->rank < 3 || type->rank > 5)
    return;
  starts = gantry_attrs_ints (module->context, node->attrs, "start_indices", &n);
  if (starts[1] > 0)
    seen->slices[starts[1] % 16 == 0 ? 0 : starts[1] % 8 == 0 ? 1 : 2]++;
}

static void
count_program (Seen *seen, const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryNode *first = &module->nodes[entry->first_node];
  gboolean step = FALSE;

  for (guint32 i = 0; i < module->n_nodes; i++)
    count_node (seen, module, &module->nodes[i]);
  for (guint32 i = 0; i < entry->n_params && !step; i++)
    step = gantry_parameter_role (module, &first[i]) == GANTRY_SUBJECT_STATE;
  seen->steps += step;
  if (entry->n_params > 0 && gantry_node_type (module, first)->rank >= 3)
    seen->batches[MIN (gantry_node_type (module, first)->dims[0], 3)]++;
}

static gboolean
is_made (guint16 op)
{
  for (guint i = 0; i < G_N_ELEMENTS (not_made); i++)
    if (not_made[i] == op)
      return FALSE;
  return gantry_op_info (op) != NULL;
}

static void
expect (guint64 count, const char *what, const char *which)
{
  if (count == 0)
    {
      g_test_message ("no program has %s %s", what, which);
      g_test_fail ();
    }
}

static void
test_programs (void)
{
  static const gint64 around[] = { 7, 8, 9, 15, 16, 17, 32 };
  g_autofree Seen *seen = g_new0 (Seen, 1);

  for (guint64 i = 0; i < N_PROGRAMS; i++)
    {
      g_autoptr (GantryModule) module = diff_generate (diff_program_seed (SEED, i));

      count_program (seen, module);
    }
  for (guint16 op = 1; op < GANTRY_OP_FOREIGN; op++)
    if (is_made (op))
      expect (seen->operations[op], "the operation", gantry_op_info (op)->name);
  for (guint element = GANTRY_BOOL; element <= GANTRY_F64; element++)
    if (gantry_element_size ((GantryElementType) element) > 0)
      expect (seen->elements[element], "elements of", gantry_element_name ((GantryElementType) element));
  for (guint form = 0; form < N_FORMS; form++)
    expect (seen->forms[form], "a convolution", form_names[form]);
  for (guint i = 0; i < G_N_ELEMENTS (around); i++)
    {
      g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, around[i]);

      expect (seen->channels[around[i]], "a convolution with channels:", text);
    }
  for (guint batch = 1; batch <= 3; batch++)
    expect (seen->batches[batch], "batch", (const char *[]){ "", "1", "2", "3" }[batch]);
  for (guint i = 0; i < G_N_ELEMENTS (seen->slices); i++)
    expect (seen->slices[i], "channels sliced", (const char *[]){ "at 16", "at 8", "elsewhere" }[i]);
  expect (seen->steps, "a step of", "training");
}

/* Configurations */

typedef enum
{
  CHOICE_BLOCK_0,
  CHOICE_BLOCK_8,
  CHOICE_BLOCK_16,
  CHOICE_LEVEL_0,
  CHOICE_LEVEL_1,
  CHOICE_LEVEL_2,
  CHOICE_THREADS_1,
  CHOICE_THREADS_2,
  CHOICE_THREADS_3,
  CHOICE_PLACEMENTS,
  CHOICE_WHOLE,
  N_CHOICES
} Choice;

static const char *const choice_names[N_CHOICES] = { "block 0",  "block 8",   "block 16",  "level 0",    "level 1", "level 2",
                                                     "1 thread", "2 threads", "3 threads", "placements", "whole" };

typedef struct
{
  guint64 choices[DIFF_N_BACK_ENDS][N_CHOICES], sets[DIFF_N_BACK_ENDS][GANTRY_N_INSTRUCTION_SETS];
  GHashTable *left_out[DIFF_N_BACK_ENDS]; /* pass's name -> itself */
} Configured;

static void
count_config (Configured *seen, const DiffConfig *config)
{
  guint64 *choices = seen->choices[config->back_end];

  choices[CHOICE_BLOCK_0 + config->block / 8]++;
  choices[CHOICE_LEVEL_0 + config->optimization]++;
  choices[CHOICE_THREADS_1 + MAX (config->threads, 1) - 1]++;
  choices[CHOICE_PLACEMENTS] += config->placements != 0;
  choices[CHOICE_WHOLE] += config->whole;
  seen->sets[config->back_end][config->instructions]++;
  if (config->left_out != NULL)
    g_hash_table_add (seen->left_out[config->back_end], (gpointer) config->left_out);
}

static void
expect_configs (const Configured *seen, DiffBackEnd back_end)
{
  const char *name = diff_back_end_name (back_end);
  GantryInstructionSet sets[GANTRY_N_INSTRUCTION_SETS];
  guint n, n_sets = diff_instruction_sets (TRUE, sets);
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; i < N_CHOICES; i++)
    expect (seen->choices[back_end][i], name, choice_names[i]);
  for (guint i = 0; i < n_sets; i++)
    expect (seen->sets[back_end][sets[i]], name, gantry_instruction_set_name (sets[i]));
  for (guint i = 0; i < n; i++)
    if (!passes[i].required)
      expect (g_hash_table_contains (seen->left_out[back_end], passes[i].name), name, passes[i].name);
}

static void
test_rotation (void)
{
  Configured seen = { 0 };

  for (guint i = 0; i < DIFF_N_BACK_ENDS; i++)
    seen.left_out[i] = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint64 number = 0; number < N_CONFIGURED; number++)
    {
      g_autoptr (GArray) configs = diff_rotation (number, FALSE);

      for (guint i = 0; i < configs->len; i++)
        count_config (&seen, &g_array_index (configs, DiffConfig, i));
    }
  for (guint i = DIFF_OWN; i < DIFF_N_BACK_ENDS; i++)
    expect_configs (&seen, (DiffBackEnd) i);
  for (guint i = 0; i < DIFF_N_BACK_ENDS; i++)
    g_hash_table_unref (seen.left_out[i]);
}

/* How often the product has this configuration, whatever its threads. */
static guint
count_equal (GArray *configs, guint first, const DiffConfig *config)
{
  guint n = 0;

  for (guint i = first; i < configs->len; i++)
    {
      const DiffConfig *other = &g_array_index (configs, DiffConfig, i);

      n += other->back_end == config->back_end && other->instructions == config->instructions && other->block == config->block
           && g_strcmp0 (other->left_out, config->left_out) == 0 && other->optimization == 0 && other->placements == 0;
    }
  return n;
}

/* Behind what each program has the product adds every combination once. */
static void
test_product (void)
{
  static const guint64 numbers[] = { 0, 50, 100 };
  GantryInstructionSet sets[GANTRY_N_INSTRUCTION_SETS];
  guint n, n_sets = diff_instruction_sets (TRUE, sets);
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
    {
      g_autoptr (GArray) turn = diff_rotation (numbers[k], FALSE), configs = diff_rotation (numbers[k], TRUE);
      guint n_product = 0;

      for (guint set = 0; set < n_sets; set++)
        for (guint back_end = DIFF_OWN; back_end < DIFF_N_BACK_ENDS; back_end++)
          for (guint block = 8; block <= (back_end == DIFF_GRID ? 8 : 16); block += 8)
            for (guint i = 0; i <= n; i++)
              {
                DiffConfig config = { (DiffBackEnd) back_end, sets[set], block, i < n ? passes[i].name : NULL };

                if (i < n && passes[i].required)
                  continue;
                g_assert_cmpuint (count_equal (configs, turn->len, &config), ==, 1);
                n_product++;
              }
      g_assert_cmpuint (turn->len, ==, DIFF_N_BACK_ENDS);
      g_assert_cmpuint (configs->len, ==, turn->len + n_product);
    }
}

/* A configuration is what its text says. */
static void
test_texts (void)
{
  for (guint64 number = 0; number < N_CONFIGURED; number += 25)
    {
      g_autoptr (GArray) configs = diff_rotation (number, number % 50 == 0);

      for (guint i = 0; i < configs->len; i++)
        {
          g_autofree char *text = diff_config_text (&g_array_index (configs, DiffConfig, i)), *again = NULL;
          g_autoptr (GError) error = NULL;
          DiffConfig config;

          diff_config_parse (text, &config, &error);
          g_assert_no_error (error);
          again = diff_config_text (&config);
          g_assert_cmpstr (again, ==, text);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/differential/coverage/programs", test_programs);
  g_test_add_func ("/differential/coverage/rotation", test_rotation);
  g_test_add_func ("/differential/coverage/product", test_product);
  g_test_add_func ("/differential/coverage/texts", test_texts);
  return g_test_run ();
}
