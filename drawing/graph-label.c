/* SPDX-License-Identifier: Apache-2.0 */
/* What is written on a box: the operation, and the name of the value. */
#include "drawing/graph-picture-private.h"
#include <string.h>

#define LONGEST_TITLE 34
#define LONGEST_SUBTITLE 30
#define FUSION_PARTS 3

guint32
_gantry_graph_picture_text (GantryGraphPicture *picture, const char *text)
{
  guint32 offset = (guint32) picture->texts->len;

  g_string_append_len (picture->texts, text, (gssize) strlen (text) + 1);
  return offset;
}

/* Names of values differ at their ends more often than in the middle. */
char *
_gantry_shorten (const char *text, glong length)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  glong n = g_utf8_strlen (valid, -1);
  g_autofree char *head = NULL, *tail = NULL;

  if (n <= length)
    return g_steal_pointer (&valid);
  head = g_utf8_substring (valid, 0, length / 2);
  tail = g_utf8_substring (valid, n - (length - length / 2 - 1), n);
  return g_strconcat (head, "…", tail, NULL);
}

/* "multiply + add + 2 more" */
static char *
fusion_title (const GantryModule *module, const GantryNode *node)
{
  const GantryAttr *body = gantry_attrs_find (module->context, node->attrs, "body");
  const GantryFunction *function = body != NULL ? gantry_module_function (module, body->id) : NULL;
  GString *title = g_string_new (NULL);
  guint shown = 0, more = 0;

  for (guint32 i = 0; function != NULL && i < function->n_nodes; i++)
    {
      const GantryNode *part = &module->nodes[function->first_node + i];
      GantryOpClass op_class = gantry_node_class (module, part);

      if (op_class != GANTRY_CLASS_ELEMENTWISE && op_class != GANTRY_CLASS_REDUCTION)
        continue;
      if (shown < FUSION_PARTS)
        g_string_append_printf (title, "%s%s", shown > 0 ? " + " : "", gantry_node_op_name (module, part));
      else
        more++;
      shown++;
    }
  if (more > 0)
    g_string_append_printf (title, " + %u", more);
  if (title->len == 0)
    g_string_append (title, "fusion");
  return g_string_free (title, FALSE);
}

static char *
node_title (const GantryModule *module, const GantryNode *node)
{
  const char *name = gantry_node_op_name (module, node);
  const char *post = gantry_attrs_string (module->context, node->attrs, "post", NULL);

  if (node->op == GANTRY_OP_FUSION)
    return fusion_title (module, node);
  if (node->op == GANTRY_OP_PARAMETER)
    return g_strdup ("input");
  if (node->op >= GANTRY_OP_FOREIGN && strrchr (name, '.') != NULL)
    name = strrchr (name, '.') + 1;
  return post != NULL ? g_strdup_printf ("%s + %s", name, post) : g_strdup (name);
}

/* The name without the scope, which the group around the box says already. */
static char *
own_name (const GantryModule *module, const GantryNode *node)
{
  char *label = gantry_node_label (module, node);
  const char *scope = gantry_context_scope_path (module->context, node->scope);
  const char *rest = *label == '/' ? label + 1 : label;
  gsize length = strlen (scope);

  if (length > 0 && strncmp (rest, scope, length) == 0 && rest[length] == '/' && rest[length + 1] != '\0')
    {
      char *short_name = g_strdup (rest + length + 1);

      g_free (label);
      return short_name;
    }
  return label;
}

void
_gantry_graph_label_box (GantryGraphPicture *picture, GantryGraphBox *box)
{
  const GantryModule *module = picture->module;
  const GantryNode *node = gantry_module_node (module, box->node);
  g_autofree char *title = NULL, *subtitle = NULL, *short_title = NULL, *short_subtitle = NULL;

  if (box->kind == GANTRY_BOX_SCOPE)
    {
      const char *path = gantry_context_scope_path (module->context, box->scope);
      const char *slash = strrchr (path, '/');

      title = g_strdup (slash != NULL ? slash + 1 : path);
      subtitle = g_strdup_printf ("%u node%s%s%s", box->n_nodes, box->n_nodes == 1 ? "" : "s", box->phase != GANTRY_PHASE_FORWARD ? ", " : "",
                                  box->phase != GANTRY_PHASE_FORWARD ? gantry_phase_name ((GantryPhase) box->phase) : "");
    }
  else
    {
      title = box->kind == GANTRY_BOX_OUTPUT ? g_strdup ("output") : node_title (module, node);
      subtitle = own_name (module, node);
    }
  short_title = _gantry_shorten (title, LONGEST_TITLE);
  short_subtitle = _gantry_shorten (subtitle, LONGEST_SUBTITLE);
  box->title = _gantry_graph_picture_text (picture, short_title);
  box->subtitle = _gantry_graph_picture_text (picture, short_subtitle);
}
