/* SPDX-License-Identifier: Apache-2.0 */
/* Bound programs as text, for people and for tests: one statement a line. Long expressions are cut off. */
#include "core/kernels/program/grid.h"

#define MAX_TEXT 400 /* of one expression */
#define MAX_DEPTH 40

typedef struct
{
  const GantryGrid *grid;
  GString *text;
  gsize limit; /* length at which the expression is cut off */
} Print;

static void
print_variable (const Print *p, guint v)
{
  static const char *const names[] = { "?", "block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z", "k", "lane" };
  guint8 axis = p->grid->axis[v];

  g_string_append (p->text, names[axis]);
  if (axis == GANTRY_AXIS_NONE || axis >= GANTRY_AXIS_LOOP)
    g_string_append_printf (p->text, "%u", v);
}

static void print_node (Print *p, guint32 id, guint depth);

static void
print_sum (Print *p, const GantryKxNode *node, guint depth)
{
  gboolean first = TRUE;

  for (guint i = 0; i < node->c; i++)
    {
      GantryKxTerm term = gantry_kx_terms (p->grid->kx, node)[i];

      if (!first)
        g_string_append (p->text, term.factor < 0 ? " - " : " + ");
      else if (term.factor < 0)
        g_string_append_c (p->text, '-');
      if (ABS (term.factor) != 1)
        g_string_append_printf (p->text, "%" G_GINT64_FORMAT " ", ABS (term.factor));
      print_node (p, term.node, depth + 1);
      first = FALSE;
    }
  if (first)
    g_string_append_printf (p->text, "%" G_GINT64_FORMAT, node->i);
  else if (node->i != 0)
    g_string_append_printf (p->text, " %c %" G_GINT64_FORMAT, node->i < 0 ? '-' : '+', ABS (node->i));
}

static void
print_operator (Print *p, const GantryKxNode *node, guint depth)
{
  static const char *const directions[] = { "==", "!=", "<", "<=", ">", ">=" };
  const char *sign = NULL;

  switch (node->op)
    {
    case GANTRY_OP_COMPARE: sign = directions[node->direction]; break;
    case GANTRY_OP_ADD: sign = "+"; break;
    case GANTRY_OP_SUBTRACT: sign = "-"; break;
    case GANTRY_OP_MULTIPLY: sign = "*"; break;
    case GANTRY_OP_DIVIDE: sign = "/"; break;
    case GANTRY_OP_REMAINDER: sign = "%"; break;
    case GANTRY_OP_AND: sign = "&"; break;
    case GANTRY_OP_OR: sign = "|"; break;
    default: break;
    }
  if (sign == NULL)
    g_string_append (p->text, gantry_op_info (node->op)->name);
  else if (node->op == GANTRY_OP_MULTIPLY && node->direction == GANTRY_TX_UNROUNDED)
    g_string_append (p->text, "unrounded");
  g_string_append_c (p->text, '(');
  print_node (p, node->a, depth + 1);
  g_string_append_printf (p->text, sign != NULL ? " %s " : ", ", sign);
  print_node (p, node->b, depth + 1);
  g_string_append_c (p->text, ')');
}

static void
print_call (Print *p, const char *name, const GantryKxNode *node, guint n, guint depth)
{
  const guint32 parts[] = { node->a, node->b, node->c };

  g_string_append_printf (p->text, "%s(", name);
  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append (p->text, ", ");
      print_node (p, parts[i], depth + 1);
    }
  g_string_append_c (p->text, ')');
}

static void
print_node (Print *p, guint32 id, guint depth)
{
  const GantryKxNode *node = gantry_kx_node (p->grid->kx, id);

  if (p->text->len > p->limit || depth > MAX_DEPTH)
    {
      g_string_append (p->text, "...");
      return;
    }
  switch ((GantryKxKind) node->kind)
    {
    case GANTRY_KX_CONST:
      if (gantry_element_is_float (node->type))
        g_string_append_printf (p->text, "%g", node->f);
      else
        g_string_append_printf (p->text, "%" G_GINT64_FORMAT, node->i);
      break;
    case GANTRY_KX_INDEX: print_variable (p, node->a); break;
    case GANTRY_KX_VALUE: g_string_append_printf (p->text, "v%u", node->a); break;
    case GANTRY_KX_LINEAR:
      if (depth > 0)
        g_string_append_c (p->text, '(');
      print_sum (p, node, depth);
      if (depth > 0)
        g_string_append_c (p->text, ')');
      break;
    case GANTRY_KX_LOAD:
      g_string_append_printf (p->text, "input%u[", node->a);
      print_sum (p, node, depth);
      g_string_append_c (p->text, ']');
      break;
    case GANTRY_KX_BINARY: print_operator (p, node, depth); break;
    case GANTRY_KX_UNARY: print_call (p, gantry_op_info (node->op)->name, node, 1, depth); break;
    case GANTRY_KX_SELECT: print_call (p, "select", node, 3, depth); break;
    case GANTRY_KX_REDUCE: print_call (p, "reduce", node, 1, depth); break;
    default: print_call (p, gantry_element_name (node->type), node, 1, depth); break;
    }
}

static void
print_expression (Print *p, guint32 id)
{
  p->limit = p->text->len + MAX_TEXT;
  print_node (p, id, 0);
}

static void
print_element (Print *p, guint32 array, guint32 index, guint lanes)
{
  g_string_append_printf (p->text, "%s[", g_array_index (p->grid->arrays, GantryGridArray, array).name);
  print_expression (p, index);
  if (lanes > 1)
    g_string_append_printf (p->text, " .. +%u", lanes);
  g_string_append_c (p->text, ']');
}

static void
print_values (Print *p, const GantryGridStatement *s)
{
  g_string_append_printf (p->text, "v%u", s->value);
  if (s->lanes > 1)
    g_string_append_printf (p->text, " .. v%u", s->value + s->lanes - 1);
  g_string_append (p->text, " := ");
}

static void
print_for (Print *p, const GantryGridStatement *s)
{
  g_string_append (p->text, s->unroll ? "unroll " : "for ");
  print_variable (p, s->c);
  g_string_append (p->text, " from ");
  print_expression (p, s->a);
  g_string_append (p->text, " to ");
  print_expression (p, s->b);
  if (s->step != 1)
    g_string_append_printf (p->text, " by %" G_GINT64_FORMAT, s->step);
}

static void
print_matrices (Print *p, const GantryGridStatement *s)
{
  static const char *const shapes[] = { "m16n8k16.f16", "m16n8k16.bf16", "m16n8k8.tf32" };

  if (s->kind == GANTRY_GRID_MATRIX_LOAD)
    {
      print_element (p, s->c, s->offset_a, 1);
      g_string_append_printf (p->text, " := %u matrices%s at ", s->shape & 0x7f, s->shape & 0x80 ? " transposed" : "");
      print_element (p, s->array, s->b, 1);
      return;
    }
  print_element (p, s->array, s->b, 1);
  g_string_append_printf (p->text, " += mma %s ", s->shape < G_N_ELEMENTS (shapes) ? shapes[s->shape] : "?");
  print_element (p, s->c, s->offset_a, 1);
  g_string_append (p->text, " * ");
  print_element (p, s->d, s->offset_b, 1);
}

static void
print_wgmma (Print *p, const GantryGridStatement *s)
{
  g_string_append_printf (p->text, "%s += wgmma m64n%" G_GINT64_FORMAT "k64 ", g_array_index (p->grid->arrays, GantryGridArray, s->array).name, s->step);
  print_element (p, s->c, s->offset_a, 1);
  g_string_append (p->text, s->shape & 1 ? " transposed * " : " * ");
  print_element (p, s->d, s->offset_b, 1);
  g_string_append_printf (p->text, "%s, all but %u done", s->shape & 2 ? " transposed" : "", s->mask);
}

static void
print_statement (Print *p, const GantryGridStatement *s)
{
  switch ((GantryGridKind) s->kind)
    {
    case GANTRY_GRID_LET:
      print_values (p, s);
      print_expression (p, s->a);
      break;
    case GANTRY_GRID_SET:
      print_element (p, s->array, s->b, s->lanes);
      g_string_append (p->text, " := ");
      print_expression (p, s->a);
      break;
    case GANTRY_GRID_GET:
      print_values (p, s);
      print_element (p, s->array, s->b, s->lanes);
      break;
    case GANTRY_GRID_FOR: print_for (p, s); break;
    case GANTRY_GRID_IF:
      g_string_append (p->text, "if ");
      print_expression (p, s->a);
      break;
    case GANTRY_GRID_SHUFFLE:
      print_values (p, s);
      g_string_append_printf (p->text, "shuffle xor %u of ", s->mask);
      print_expression (p, s->a);
      break;
    case GANTRY_GRID_FETCH:
      print_element (p, s->array, s->b, s->lanes);
      g_string_append (p->text, s->shape & 2 ? " := fetch cached " : " := fetch ");
      if (s->shape & 1)
        print_element (p, s->d, s->a, 1);
      else
        {
          g_string_append_printf (p->text, "input%u[", s->d);
          print_expression (p, s->a);
          g_string_append_c (p->text, ']');
        }
      if (s->c != GANTRY_GRID_NONE)
        {
          g_string_append (p->text, " where ");
          print_expression (p, s->c);
          g_string_append (p->text, ", else 0");
        }
      break;
    case GANTRY_GRID_AWAIT: g_string_append_printf (p->text, "await all but %u", s->mask); break;
    case GANTRY_GRID_MATRIX_LOAD:
    case GANTRY_GRID_MMA: print_matrices (p, s); break;
    case GANTRY_GRID_FENCE: g_string_append (p->text, "fence for wgmma"); break;
    case GANTRY_GRID_WGMMA: print_wgmma (p, s); break;
    case GANTRY_GRID_WGMMA_AWAIT: g_string_append (p->text, "await wgmma"); break;
    default: g_string_append (p->text, s->kind == GANTRY_GRID_ELSE ? "else" : s->kind == GANTRY_GRID_BARRIER ? "barrier" : "commit"); break;
    }
}

char *
gantry_grid_to_text (const GantryGrid *grid)
{
  static const char *const spaces[] = { "result", "workspace", "shared", "private" };
  Print p = { .grid = grid, .text = g_string_new (NULL) };
  guint depth = 0;

  g_string_append_printf (p.text, "grid %u x %u x %u, block %u x %u x %u\n", grid->grid[0], grid->grid[1], grid->grid[2], grid->block[0], grid->block[1],
                          grid->block[2]);
  for (guint i = 0; i < grid->arrays->len; i++)
    {
      const GantryGridArray *array = &g_array_index (grid->arrays, GantryGridArray, i);

      g_string_append_printf (p.text, "%s %s: %" G_GUINT64_FORMAT " %s\n", spaces[array->space], array->name, array->count,
                              gantry_element_name (array->element));
    }
  for (guint i = 0; i < grid->statements->len; i++)
    {
      const GantryGridStatement *s = &g_array_index (grid->statements, GantryGridStatement, i);

      if (s->kind == GANTRY_GRID_END || s->kind == GANTRY_GRID_ELSE)
        depth--;
      if (s->kind != GANTRY_GRID_END)
        {
          g_string_append_printf (p.text, "%*s", (int) (2 * depth), "");
          print_statement (&p, s);
          g_string_append_c (p.text, '\n');
        }
      if (s->kind == GANTRY_GRID_FOR || s->kind == GANTRY_GRID_IF || s->kind == GANTRY_GRID_ELSE)
        depth++;
    }
  return g_string_free (p.text, FALSE);
}
