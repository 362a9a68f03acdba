/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one of JAX's policies with its arguments, as Python writes them or without the quotes: names one by one or in
 * brackets, by keyword or in their place. */
#include "core/planner/policy/policy-parse-private.h"
#include <string.h>

#define MOST_NAMES 65536u

typedef enum
{
  TAKES_NOTHING,
  TAKES_NAMES,
  TAKES_TWO_LISTS, /* and two memories */
  TAKES_MEMORIES,
  TAKES_POLICIES,
} Takes;

typedef struct
{
  JaxKind kind;
  Takes takes;
} Known;

static const char *const known_names[] = {
  "everything_saveable",
  "nothing_saveable",
  "dots_saveable",
  "checkpoint_dots",
  "dots_with_no_batch_dims_saveable",
  "checkpoint_dots_with_no_batch_dims",
  "offload_dot_with_no_batch_dims",
  "save_only_these_names",
  "save_any_names_but_these",
  "save_anything_except_these_names",
  "save_and_offload_only_these_names",
  "save_from_both_policies",
  NULL,
};

static const Known known[] = {
  { JAX_EVERYTHING, TAKES_NOTHING },
  { JAX_NOTHING, TAKES_NOTHING },
  { JAX_DOTS, TAKES_NOTHING },
  { JAX_DOTS, TAKES_NOTHING },
  { JAX_DOTS_NO_BATCH, TAKES_NOTHING },
  { JAX_DOTS_NO_BATCH, TAKES_NOTHING },
  { JAX_OFFLOAD_DOTS_NO_BATCH, TAKES_MEMORIES },
  { JAX_ONLY_NAMES, TAKES_NAMES },
  { JAX_ANY_NAMES_BUT, TAKES_NAMES },
  { JAX_ANYTHING_EXCEPT_NAMES, TAKES_NAMES },
  { JAX_SAVE_AND_OFFLOAD_NAMES, TAKES_TWO_LISTS },
  { JAX_BOTH, TAKES_POLICIES },
};

const char *const *
gantry_policy_names (void)
{
  return known_names;
}

void
_gantry_jax_policy_free (JaxPolicy *policy)
{
  if (policy == NULL)
    return;
  _gantry_jax_policy_free (policy->both[0]);
  _gantry_jax_policy_free (policy->both[1]);
  g_ptr_array_unref (policy->names);
  g_ptr_array_unref (policy->offloaded);
  g_free (policy);
}

static gboolean
open_bracket (Reader *r, const char *token)
{
  gboolean opened = _gantry_policy_accept (r, token);

  r->depth += opened;
  return opened;
}

/* The depth falls before what stands behind is looked at: there a line may end a statement. */
static gboolean
close_bracket (Reader *r, const char *token)
{
  gboolean closed = _gantry_policy_accept (r, token);

  r->depth -= closed;
  return closed;
}

static gboolean
read_name (Reader *r, GPtrArray *names)
{
  char *name;

  if (++r->n_names > MOST_NAMES)
    return _gantry_policy_fail (r, r->p, "more than %u names", MOST_NAMES);
  name = _gantry_policy_word (r, "a name", FALSE);
  if (name != NULL)
    g_ptr_array_add (names, name);
  return name != NULL;
}

/* After the opening bracket, up to the closing one; a comma may stand behind the last. */
static gboolean
read_list (Reader *r, GPtrArray *names)
{
  while (!close_bracket (r, "]"))
    {
      if (!read_name (r, names))
        return FALSE;
      if (!_gantry_policy_accept (r, ","))
        return close_bracket (r, "]") || _gantry_policy_fail (r, r->p, "expected ',' or ']'");
    }
  return TRUE;
}

/* "key =" before an argument. Returns: (transfer full) (nullable): no keyword stands here */
static char *
read_keyword (Reader *r)
{
  const char *begin;

  _gantry_policy_skip (r);
  begin = r->p;
  if (r->p < r->end && (g_ascii_isalpha (*r->p) || *r->p == '_'))
    {
      while (r->p < r->end && (g_ascii_isalnum (*r->p) || *r->p == '_'))
        r->p++;
      if (r->p - begin <= POLICY_MOST_WORD)
        {
          char *word = g_strndup (begin, (gsize) (r->p - begin));

          if (_gantry_policy_accept (r, "="))
            return word;
          g_free (word);
        }
    }
  r->p = begin;
  return NULL;
}

static gboolean
read_memory (Reader *r, JaxPolicy *policy, gboolean source)
{
  g_autofree char *word = NULL;
  const char *at;

  _gantry_policy_skip (r);
  at = r->p;
  word = _gantry_policy_word (r, "a memory kind", FALSE);
  if (word == NULL)
    return FALSE;
  if (!source)
    return _gantry_policy_memory (r, at, word, &policy->memory);
  if (strcmp (word, "device") != 0)
    return _gantry_policy_fail (r, at, "expected device: values are offloaded from there");
  return TRUE;
}

/* What JAX calls the arguments, in their order. */
static int
slot_of_keyword (Takes takes, const char *keyword)
{
  static const struct
  {
    Takes takes;
    const char *keyword;
    int slot;
  } keywords[] = {
    { TAKES_NAMES, "names_which_can_be_saved", 0 },
    { TAKES_NAMES, "names_not_to_save", 0 },
    { TAKES_TWO_LISTS, "names_which_can_be_saved", 0 },
    { TAKES_TWO_LISTS, "names_which_can_be_offloaded", 1 },
    { TAKES_TWO_LISTS, "offload_src", 2 },
    { TAKES_TWO_LISTS, "offload_dst", 3 },
    { TAKES_MEMORIES, "offload_src", 0 },
    { TAKES_MEMORIES, "offload_dst", 1 },
    { TAKES_POLICIES, "policy_1", 0 },
    { TAKES_POLICIES, "policy_2", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (keywords); i++)
    if (keywords[i].takes == takes && strcmp (keywords[i].keyword, keyword) == 0)
      return keywords[i].slot;
  return -1;
}

static gboolean
offloads (const JaxPolicy *policy)
{
  return policy->kind == JAX_OFFLOAD_DOTS_NO_BATCH || policy->kind == JAX_SAVE_AND_OFFLOAD_NAMES;
}

static gboolean
read_inner_policy (Reader *r, JaxPolicy *policy, guint slot, guint depth)
{
  const char *at;

  _gantry_policy_skip (r);
  at = r->p;
  policy->both[slot] = _gantry_policy_read_jax (r, depth + 1);
  if (policy->both[slot] == NULL)
    return FALSE;
  if (offloads (policy->both[slot]))
    return _gantry_policy_fail (r, at, "save_from_both_policies takes no policy that offloads; write two statements");
  return TRUE;
}

static gboolean
read_argument (Reader *r, JaxPolicy *policy, Takes takes, guint slot, guint depth)
{
  GPtrArray *names = takes == TAKES_TWO_LISTS && slot == 1 ? policy->offloaded : policy->names;

  if (takes == TAKES_POLICIES)
    return read_inner_policy (r, policy, slot, depth);
  if (takes == TAKES_MEMORIES)
    return read_memory (r, policy, slot == 0);
  if (takes == TAKES_TWO_LISTS && slot >= 2)
    return read_memory (r, policy, slot == 2);
  if (open_bracket (r, "["))
    return read_list (r, names);
  if (takes == TAKES_TWO_LISTS)
    return _gantry_policy_fail (r, r->p, "expected names in brackets: [\"a\", \"b\"]");
  return read_name (r, names);
}

/* After the opening parenthesis, up to the closing one. @given: bits of the slots */
static gboolean
read_arguments (Reader *r, JaxPolicy *policy, Takes takes, guint depth, guint *given)
{
  static const guint n_slots[] = { 0, 1, 4, 2, 2 };
  gboolean by_keyword = FALSE;
  guint next = 0;

  while (!close_bracket (r, ")"))
    {
      const char *at = (_gantry_policy_skip (r), r->p);
      g_autofree char *keyword = read_keyword (r);
      int slot = keyword != NULL ? slot_of_keyword (takes, keyword) : (int) next;

      if (keyword != NULL && slot < 0)
        return _gantry_policy_fail (r, at, "this policy takes no argument %s", keyword);
      if (keyword == NULL && by_keyword)
        return _gantry_policy_fail (r, at, "expected a keyword: it follows one");
      if ((guint) slot >= n_slots[takes])
        return _gantry_policy_fail (r, at, "this policy takes %u argument%s", n_slots[takes], n_slots[takes] == 1 ? "" : "s");
      if (keyword != NULL && (*given & 1u << slot))
        return _gantry_policy_fail (r, at, "%s is given twice", keyword);
      *given |= 1u << slot;
      by_keyword = keyword != NULL;
      next += takes != TAKES_NAMES; /* of those as many as one likes */
      if (!read_argument (r, policy, takes, (guint) slot, depth))
        return FALSE;
      if (!_gantry_policy_accept (r, ","))
        return close_bracket (r, ")") || _gantry_policy_fail (r, r->p, "expected ',' or ')'");
    }
  return TRUE;
}

/* As JAX: what is to be saved and what is to be offloaded have no name in common. */
static gboolean
check_disjoint (Reader *r, const char *at, const JaxPolicy *policy)
{
  g_autoptr (GHashTable) saved = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < policy->names->len; i++)
    g_hash_table_add (saved, policy->names->pdata[i]);
  for (guint i = 0; i < policy->offloaded->len; i++)
    if (g_hash_table_contains (saved, policy->offloaded->pdata[i]))
      return _gantry_policy_fail (r, at, "'%s' is to be saved and to be offloaded: a name stands in one of the lists",
                                  (const char *) policy->offloaded->pdata[i]);
  return TRUE;
}

static gboolean
check_arguments (Reader *r, const char *at, const JaxPolicy *policy, Takes takes, guint given)
{
  if (takes == TAKES_POLICIES && given != 3)
    return _gantry_policy_fail (r, at, "save_from_both_policies takes two policies");
  if (takes == TAKES_TWO_LISTS && (given & 3) != 3)
    return _gantry_policy_fail (r, at,
                                "expected two lists: save_and_offload_only_these_names(names_which_can_be_saved=[...], "
                                "names_which_can_be_offloaded=[...])");
  return takes != TAKES_TWO_LISTS || check_disjoint (r, at, policy);
}

static int
find_policy (const char *name)
{
  static const char *const prefixes[] = { "jax.checkpoint_policies.", "checkpoint_policies.", "" };

  for (guint p = 0; p < G_N_ELEMENTS (prefixes); p++)
    for (guint i = 0; g_str_has_prefix (name, prefixes[p]) && known_names[i] != NULL; i++)
      if (strcmp (name + strlen (prefixes[p]), known_names[i]) == 0)
        return (int) i;
  return -1;
}

JaxPolicy *
_gantry_policy_read_jax (Reader *r, guint depth)
{
  const char *at = (_gantry_policy_skip (r), r->p);
  g_autofree char *name = _gantry_policy_word (r, "the name of a policy", FALSE);
  g_autoptr (JaxPolicy) policy = NULL;
  guint given = 0;
  int which;

  G_STATIC_ASSERT (G_N_ELEMENTS (known) + 1 == G_N_ELEMENTS (known_names));
  if (name == NULL)
    return NULL;
  which = find_policy (name);
  if (which < 0 || depth == POLICY_MOST_DEPTH)
    {
      g_autofree char *all = g_strjoinv (", ", (char **) known_names);

      if (which < 0)
        _gantry_policy_fail (r, at, "there is no policy '%s': expected one of %s", name, all);
      else
        _gantry_policy_fail (r, at, "policies stand more than %u deep within each other", POLICY_MOST_DEPTH);
      return NULL;
    }
  policy = g_new0 (JaxPolicy, 1);
  policy->kind = known[which].kind;
  policy->memory = GANTRY_MEMORY_PINNED_HOST;
  policy->names = g_ptr_array_new_with_free_func (g_free);
  policy->offloaded = g_ptr_array_new_with_free_func (g_free);
  if (known[which].takes == TAKES_NAMES && (_gantry_policy_skip (r), r->p == r->end || *r->p != '('))
    {
      _gantry_policy_fail (r, r->p, "expected names in parentheses: %s(\"a\", \"b\")", known_names[which]);
      return NULL;
    }
  if (open_bracket (r, "(") && !read_arguments (r, policy, known[which].takes, depth, &given))
    return NULL;
  return check_arguments (r, at, policy, known[which].takes, given) ? g_steal_pointer (&policy) : NULL;
}
