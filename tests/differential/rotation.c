/* SPDX-License-Identifier: Apache-2.0 */
/* Which configurations a program is run in: the product of all is too large for each, so that they take turns. */
#include "core/compiler/compiler.h"
#include "tests/differential/differential.h"

#define PROGRAMS_IN_A_ROW 25

guint64
diff_program_seed (guint64 seed, guint64 number)
{
  guint64 z = seed * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + (number + 1) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

guint
diff_instruction_sets (gboolean available, GantryInstructionSet *sets)
{
  guint n = 0;

  for (guint i = GANTRY_INSTRUCTIONS_SSE4; i < GANTRY_N_INSTRUCTION_SETS; i++)
    if (gantry_instruction_set_available ((GantryInstructionSet) i) == available)
      sets[n++] = (GantryInstructionSet) i;
  return n;
}

/* Programs in a row have one set: it holds for a process. */
static GantryInstructionSet
instructions_of (guint64 number)
{
  GantryInstructionSet sets[GANTRY_N_INSTRUCTION_SETS];
  guint n = diff_instruction_sets (TRUE, sets);

  return n > 0 ? sets[number / PROGRAMS_IN_A_ROW % n] : GANTRY_INSTRUCTIONS_NATIVE;
}

/* The passes that may be left out. */
static guint
optional_passes (const char **names, guint most)
{
  guint n, n_names = 0;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; i < n && n_names < most; i++)
    if (!passes[i].required)
      names[n_names++] = passes[i].name;
  return n_names;
}

#define MOST_PASSES 64

/* LLVM's level for @back_end. The higher ones take four times as long to compile for the processor's own code and
 * fifteen times for the schedules, whose long straight lines its scheduler orders in quadratic time; the code that they
 * are given is the same. */
static guint
level_of (guint64 turn, DiffBackEnd back_end)
{
  guint period = back_end == DIFF_GRID ? 64 : 16;

  return turn / 512 % period < 2 ? 2 - (guint) (turn / 512 % period) : 0;
}

/* One for each back end. Every second program runs with all passes, each other one without one of them. */
static void
add_turn (guint64 number, GArray *configs)
{
  guint64 turn = diff_program_seed (0, number);
  const char *names[MOST_PASSES];
  guint n_names = optional_passes (names, MOST_PASSES);
  DiffConfig config = { .back_end = DIFF_EVALUATOR, .instructions = instructions_of (number) };

  g_array_append_val (configs, config);
  config.left_out = number % 2 == 0 ? NULL : names[number / 2 % n_names];
  config.placements = turn / 8 % 3 == 0 ? (guint32) (turn >> 32) | 1 : 0;
  config.whole = turn / 32 % 4 == 0;
  config.rolled = turn / 2048 % 2 == 0;
  config.block = (guint) (8 * (turn / 128 % 3));
  config.threads = 1 + (guint) (turn / 65536 % DIFF_MOST_THREADS);
  for (guint i = DIFF_OWN; i < DIFF_N_BACK_ENDS; i++)
    {
      config.back_end = (DiffBackEnd) i;
      config.optimization = level_of (turn, config.back_end);
      g_array_append_val (configs, config);
    }
}

static void
add_product (GantryInstructionSet set, GArray *configs)
{
  const char *names[MOST_PASSES + 1] = { NULL };
  guint n_names = 1 + optional_passes (names + 1, MOST_PASSES);

  for (guint i = 0; i < n_names; i++)
    for (guint back_end = DIFF_OWN; back_end < DIFF_N_BACK_ENDS; back_end++)
      for (guint block = 8; block <= (back_end == DIFF_GRID ? 8 : 16); block += 8)
        {
          DiffConfig config = {
            .back_end = (DiffBackEnd) back_end, .instructions = set, .block = block, .left_out = names[i], .threads = 1 + configs->len % DIFF_MOST_THREADS
          };

          g_array_append_val (configs, config);
        }
}

GArray *
diff_rotation (guint64 number, gboolean product)
{
  GArray *configs = g_array_new (FALSE, FALSE, sizeof (DiffConfig));
  GantryInstructionSet sets[GANTRY_N_INSTRUCTION_SETS];
  guint n = diff_instruction_sets (TRUE, sets);

  add_turn (number, configs);
  for (guint i = 0; product && i < n; i++)
    add_product (sets[(number / PROGRAMS_IN_A_ROW + i) % n], configs);
  return configs;
}
