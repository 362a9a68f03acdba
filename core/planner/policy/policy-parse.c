/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of a policy into statements (docs/policies.md has the grammar). Never recurses deeper than policies stand
 * within each other, and every limit is an error with its place. */
#include "core/planner/policy/policy-parse-private.h"
#include "core/base/bytes-text.h"
#include "core/base/error.h"
#include <string.h>

#define MOST_FOUND 40 /* bytes of what a message repeats */

static gboolean
is_word (char c)
{
  return !g_ascii_isspace (c) && strchr (";&#(),\"'=[]<>", c) == NULL;
}

/* "found 'foo'", or the end. (transfer full) */
static char *
found_text (const Reader *r, const char *at)
{
  gsize n = 0;
  g_autofree char *bytes = NULL, *word = NULL;

  while (at < r->end && (*at == ' ' || *at == '\t'))
    at++;
  while (at + n < r->end && n < MOST_FOUND && (is_word (at[n]) || n == 0) && at[n] != '\n')
    n++;
  if (n == 0)
    return g_strdup (at < r->end ? "found the end of the line" : "found the end");
  bytes = g_strndup (at, n);
  word = g_utf8_make_valid (bytes, -1);
  return g_strdup_printf ("found '%s'", word);
}

gboolean
_gantry_policy_fail (Reader *r, const char *at, const char *format, ...)
{
  g_autofree char *what = NULL, *found = NULL;
  guint line = 1, column = 1;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  for (const char *p = r->text; p < at; p++)
    {
      column = *p == '\n' ? 1 : column + 1;
      line += *p == '\n';
    }
  if (g_str_has_prefix (format, "expected "))
    found = found_text (r, at);
  if (r->error != NULL && *r->error == NULL)
    g_set_error (r->error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "policy:%u:%u: %s%s%s", line, column, found != NULL ? found : "", found != NULL ? ": " : "",
                 what);
  return FALSE;
}

/* Within parentheses the end of a line is a blank. */
void
_gantry_policy_skip (Reader *r)
{
  for (; r->p < r->end; r->p++)
    if (*r->p == '#')
      {
        const char *end = memchr (r->p, '\n', (gsize) (r->end - r->p));

        r->p = (end != NULL ? end : r->end) - 1;
      }
    else if (!g_ascii_isspace (*r->p) || (*r->p == '\n' && r->depth == 0))
      break;
}

gboolean
_gantry_policy_accept (Reader *r, const char *token)
{
  gsize length = strlen (token);

  _gantry_policy_skip (r);
  if ((gsize) (r->end - r->p) < length || memcmp (r->p, token, length) != 0)
    return FALSE;
  /* A keyword is a whole word. */
  if (g_ascii_isalpha (token[0]) && r->p + length < r->end && is_word (r->p[length]) && token[length - 1] != ':')
    return FALSE;
  r->p += length;
  r->read = r->p;
  return TRUE;
}

gboolean
_gantry_policy_expect (Reader *r, const char *token, const char *what)
{
  if (_gantry_policy_accept (r, token))
    return TRUE;
  return _gantry_policy_fail (r, r->p, "expected %s", what);
}

/* "..." or '...': a backslash takes the next character as it is, except that \* is left to the glob. */
static char *
read_quoted (Reader *r, gboolean glob)
{
  const char *begin = r->p;
  char quote = *r->p++;
  g_autoptr (GString) text = g_string_new (NULL);

  for (; r->p < r->end && *r->p != quote && *r->p != '\n'; r->p++)
    {
      if (*r->p == '\\' && r->p + 1 < r->end && r->p[1] != '\n')
        {
          r->p++;
          if (glob && *r->p == '*')
            g_string_append_c (text, '\\');
        }
      g_string_append_c (text, *r->p);
    }
  if (r->p >= r->end || *r->p != quote)
    {
      _gantry_policy_fail (r, begin, "expected the closing %c of this text on its line", quote);
      return NULL;
    }
  r->p++;
  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
_gantry_policy_word (Reader *r, const char *what, gboolean glob)
{
  const char *begin;
  char *word;

  _gantry_policy_skip (r);
  begin = r->p;
  if (r->p < r->end && (*r->p == '"' || *r->p == '\''))
    word = read_quoted (r, glob);
  else
    {
      while (r->p < r->end && is_word (*r->p))
        r->p++;
      word = r->p > begin ? g_strndup (begin, (gsize) (r->p - begin)) : NULL;
      if (word == NULL)
        _gantry_policy_fail (r, begin, "expected %s", what);
    }
  if (word != NULL && strlen (word) > POLICY_MOST_WORD)
    {
      _gantry_policy_fail (r, begin, "a name of more than %u bytes", POLICY_MOST_WORD);
      g_clear_pointer (&word, g_free);
    }
  r->read = r->p;
  return word;
}

/* Statements */

static void
term_clear (gpointer data)
{
  Term *term = data;

  if (term->glob.parts != NULL)
    _gantry_glob_clear (&term->glob);
}

static void
statement_free (gpointer data)
{
  Statement *statement = data;

  g_free (statement->text);
  g_free (statement->within);
  g_clear_pointer (&statement->terms, g_array_unref);
  _gantry_jax_policy_free (statement->jax);
  g_free (statement);
}

/* "64MiB", "1.5e6", "4 KiB" without the blank. */
static gboolean
read_size (Reader *r, guint64 *size)
{
  g_autofree char *word = NULL;
  const char *begin;

  _gantry_policy_skip (r);
  begin = r->p;
  word = _gantry_policy_word (r, "a size: 64MiB", FALSE);
  if (word == NULL)
    return FALSE;
  return gantry_bytes_parse (word, size) || _gantry_policy_fail (r, begin, "expected a size, a number with " GANTRY_BYTES_UNITS ": 64MiB");
}

static gboolean
read_named (Reader *r, Term *term, const char *const *names, guint n, const char *what)
{
  const char *begin;
  g_autofree char *word = NULL;

  _gantry_policy_skip (r);
  begin = r->p;
  word = _gantry_policy_word (r, what, FALSE);
  if (word == NULL)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (strcmp (word, names[i]) == 0)
      {
        term->value = i;
        return TRUE;
      }
  return _gantry_policy_fail (r, begin, "expected %s", what);
}

static gboolean
read_id (Reader *r, Term *term)
{
  const char *begin = r->p;
  g_autofree char *word = _gantry_policy_word (r, "the number of a node", FALSE);
  const char *digits = word != NULL && word[0] == '%' ? word + 1 : word;

  if (word == NULL)
    return FALSE;
  if (!g_ascii_string_to_unsigned (digits, 10, 1, G_MAXUINT32, &term->value, NULL))
    return _gantry_policy_fail (r, begin, "expected the number of a node");
  return TRUE;
}

static gboolean
read_glob (Reader *r, Term *term, const char *what)
{
  g_autofree char *word = _gantry_policy_word (r, what, TRUE);

  if (word == NULL)
    return FALSE;
  if (term->kind == TERM_OP && strcmp (word, "dot") == 0)
    _gantry_glob_init (&term->glob, "dot_general");
  else if (term->kind == TERM_OP && strcmp (word, "conv") == 0)
    _gantry_glob_init (&term->glob, "convolution");
  else
    _gantry_glob_init (&term->glob, word);
  return TRUE;
}

static gboolean
read_term (Reader *r, Term *term)
{
  static const char *const roles[] = { "residual", "parameter", "state", "input", "output" };
  static const char *const classes[GANTRY_N_CLASSES] = { "input",       "constant", "elementwise", "movement", "reduction",
                                                         "contraction", "fusion",   "control",     "memory",   "other" };

  G_STATIC_ASSERT (GANTRY_SUBJECT_OUTPUT == G_N_ELEMENTS (roles) - 1);
  if (_gantry_policy_accept (r, "op:"))
    return term->kind = TERM_OP, read_glob (r, term, "an operation: op:dot, op:reduce*");
  if (_gantry_policy_accept (r, "scope:"))
    return term->kind = TERM_SCOPE, read_glob (r, term, "a scope: scope:encoder/*");
  if (_gantry_policy_accept (r, "name:"))
    return term->kind = TERM_NAME, read_glob (r, term, "a name: name:x");
  if (_gantry_policy_accept (r, "role:"))
    return term->kind = TERM_ROLE, read_named (r, term, roles, G_N_ELEMENTS (roles), "one of residual, parameter, state, input, output");
  if (_gantry_policy_accept (r, "class:"))
    return term->kind = TERM_CLASS, read_named (r, term, classes, G_N_ELEMENTS (classes),
                                                "one of input, constant, elementwise, movement, reduction, contraction, fusion, control, memory, "
                                                "other");
  if (_gantry_policy_accept (r, "id:"))
    return term->kind = TERM_ID, read_id (r, term);
  if (_gantry_policy_accept (r, "bytes"))
    return term->kind = TERM_BYTES, _gantry_policy_expect (r, ">=", "'>=' after bytes") && read_size (r, &term->value);
  if (r->p < r->end && *r->p == '*' && (r->p + 1 == r->end || !is_word (r->p[1])))
    return r->read = ++r->p, term->kind = TERM_ANY, TRUE;
  return _gantry_policy_fail (r, r->p, "expected a selector (*, op:, scope:, name:, role:, class:, id:, bytes>=) or policy");
}

gboolean
_gantry_policy_memory (Reader *r, const char *at, const char *word, guint8 *memory)
{
  for (guint kind = GANTRY_MEMORY_DEVICE + 1; kind < GANTRY_N_MEMORY_KINDS; kind++)
    if (strcmp (word, gantry_memory_kind_name (kind)) == 0)
      {
        *memory = (guint8) kind;
        return TRUE;
      }
  return _gantry_policy_fail (r, at, "expected pinned_host or unpinned_host, where values can be offloaded to");
}

static gboolean
read_decision (Reader *r, Statement *statement)
{
  for (guint kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
    if (_gantry_policy_accept (r, gantry_placement_kind_name (kind)))
      {
        g_autofree char *word = NULL;
        const char *at;

        statement->kind = (guint8) kind;
        statement->memory = GANTRY_MEMORY_PINNED_HOST;
        if (kind != GANTRY_PLACEMENT_OFFLOAD || !_gantry_policy_accept (r, "to"))
          return TRUE;
        _gantry_policy_skip (r);
        at = r->p;
        word = _gantry_policy_word (r, "a memory kind: pinned_host", FALSE);
        return word != NULL && _gantry_policy_memory (r, at, word, &statement->memory);
      }
  return _gantry_policy_fail (r, r->p, "expected '&' and a selector, or keep, recompute, offload, bf16 or int8");
}

static gboolean
read_rule (Reader *r, Statement *statement)
{
  do
    {
      Term term = { 0 };
      gboolean fine;

      _gantry_policy_skip (r);
      if (statement->terms->len == POLICY_MOST_TERMS)
        return _gantry_policy_fail (r, r->p, "a statement of more than %u selectors", POLICY_MOST_TERMS);
      fine = read_term (r, &term);
      g_array_append_val (statement->terms, term);
      if (!fine)
        return FALSE;
    }
  while (_gantry_policy_accept (r, "&"));
  return read_decision (r, statement);
}

static gboolean
read_policy (Reader *r, Statement *statement)
{
  statement->jax = _gantry_policy_read_jax (r, 0);
  if (statement->jax == NULL)
    return FALSE;
  if (!_gantry_policy_accept (r, "in"))
    return TRUE;
  _gantry_policy_accept (r, "scope:");
  statement->within = _gantry_policy_word (r, "a scope: in encoder/layer.*", FALSE);
  return statement->within != NULL;
}

static gboolean
read_statement (Reader *r, GPtrArray *statements)
{
  Statement *statement = g_new0 (Statement, 1);
  const char *begin = r->p;

  g_ptr_array_add (statements, statement);
  statement->terms = g_array_new (FALSE, TRUE, sizeof (Term));
  g_array_set_clear_func (statement->terms, term_clear);
  for (; r->counted < begin; r->counted++)
    r->line += *r->counted == '\n';
  statement->line = r->line;
  if (statements->len > POLICY_MOST_STATEMENTS)
    return _gantry_policy_fail (r, begin, "more than %u statements", POLICY_MOST_STATEMENTS);
  if (!(_gantry_policy_accept (r, "policy") ? read_policy (r, statement) : read_rule (r, statement)))
    return FALSE;
  statement->text = g_strndup (begin, (gsize) (r->read - begin));
  _gantry_policy_skip (r);
  if (r->p < r->end && *r->p != ';' && *r->p != '\n')
    return _gantry_policy_fail (r, r->p, "expected ';' or the end of the line");
  return TRUE;
}

GantryPolicy *
gantry_policy_parse (const char *text, gssize length, GError **error)
{
  g_autoptr (GantryPolicy) policy = g_new0 (GantryPolicy, 1);
  g_autoptr (GError) problem = NULL;
  const char *bad;
  Reader r = { .text = text, .p = text, .read = text, .counted = text, .line = 1, .error = &problem };
  gboolean fine = TRUE;

  g_return_val_if_fail (text != NULL || length == 0, NULL);
  if (text == NULL)
    r.text = r.p = r.read = r.counted = text = "";
  r.end = text + (length >= 0 ? (gsize) length : strlen (text));
  policy->statements = g_ptr_array_new_with_free_func (statement_free);
  if ((gsize) (r.end - text) > POLICY_MOST_BYTES)
    fine = _gantry_policy_fail (&r, text, "a policy has at most %u bytes", POLICY_MOST_BYTES);
  else if (!g_utf8_validate (text, r.end - text, &bad))
    fine = _gantry_policy_fail (&r, bad, "this is no UTF-8 text");
  while (fine)
    {
      _gantry_policy_skip (&r);
      if (r.p >= r.end)
        return g_steal_pointer (&policy);
      if (*r.p == ';' || *r.p == '\n')
        r.p++;
      else
        fine = read_statement (&r, policy->statements);
    }
  g_propagate_error (error, g_steal_pointer (&problem));
  return NULL;
}

void
gantry_policy_free (GantryPolicy *policy)
{
  if (policy == NULL)
    return;
  g_ptr_array_unref (policy->statements);
  g_free (policy);
}
