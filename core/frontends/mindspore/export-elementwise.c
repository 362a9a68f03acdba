/* SPDX-License-Identifier: Apache-2.0 */
/* Writing MindIR: what is done element by element. */
#include "core/frontends/mindspore/export-private.h"
#include "core/graph/operation.h"
#include <math.h>
#include <string.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

ExportValue *
gantry_mind_export_cast (MindExport *e, ExportValue *x, GantryElementType element)
{
  if (x == e->nobody || ELEMENT (x) == element)
    return x;
  return gantry_mind_export_node (e, "Cast", NULL, gantry_mind_export_type (e, element, x->type->rank, x->type->dims), gantry_mind_export_use (e, x),
                                  gantry_mind_export_dtype (e, element), NULL);
}

/* Shape of numpy's broadcasting; FALSE where they do not fit. */
static gboolean
broadcast_dims (const GantryType *x, const GantryType *y, GantryDim *dims, guint *rank)
{
  *rank = MAX (x->rank, y->rank);
  for (guint i = 0; i < *rank; i++)
    {
      GantryDim a = i + x->rank >= *rank ? x->dims[i + x->rank - *rank] : 1, b = i + y->rank >= *rank ? y->dims[i + y->rank - *rank] : 1;

      if (a != b && a != 1 && b != 1)
        return FALSE;
      dims[i] = a == 1 ? b : a;
    }
  return TRUE;
}

ExportValue *
gantry_mind_export_binary (MindExport *e, const char *primitive, ExportValue *x, ExportValue *y, GantryElementType element)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;

  if (x == e->nobody || y == e->nobody || !broadcast_dims (x->type, y->type, dims, &rank))
    return e->nobody;
  return gantry_mind_export_node (e, primitive, NULL, gantry_mind_export_type (e, element, rank, dims), gantry_mind_export_use (e, x),
                                  gantry_mind_export_use (e, y), NULL);
}

/* What broadcasts to the same result is not made whole. */
static void
narrow_operands (MindExport *e, ExportValue **in, ExportValue **x, ExportValue **y)
{
  *x = in[0];
  *y = in[1];
  if (in[0]->name == NULL && in[0]->narrow != NULL)
    *x = in[0]->narrow;
  else if (in[1]->name == NULL && in[1]->narrow != NULL)
    *y = in[1]->narrow;
}

static ExportValue *
arithmetic (MindExport *e, const char *primitive, ExportValue **in, GantryElementType element)
{
  ExportValue *x, *y;

  narrow_operands (e, in, &x, &y);
  return gantry_mind_export_binary (e, primitive, x, y, element);
}

static ExportValue *
unary (MindExport *e, const char *primitive, ExportValue *x, const GantryType *type)
{
  return gantry_mind_export_node (e, primitive, NULL, type, gantry_mind_export_use (e, x), NULL);
}

static const struct
{
  GantryOp op;
  const char *floats, *others, *booleans;
} plain[] = {
  { GANTRY_OP_ABS, "Abs", "Abs", NULL },
  { GANTRY_OP_NEGATE, "Neg", "Neg", NULL },
  { GANTRY_OP_STOP_GRADIENT, "StopGradient", "StopGradient", NULL },
  { GANTRY_OP_SIGN, "Sign", "Sign", NULL },
  { GANTRY_OP_EXPONENTIAL, "Exp", NULL, NULL },
  { GANTRY_OP_EXPONENTIAL_MINUS_ONE, "Expm1", NULL, NULL },
  { GANTRY_OP_LOG, "Log", NULL, NULL },
  { GANTRY_OP_LOG_PLUS_ONE, "Log1p", NULL, NULL },
  { GANTRY_OP_LOGISTIC, "Sigmoid", NULL, NULL },
  { GANTRY_OP_TANH, "Tanh", NULL, NULL },
  { GANTRY_OP_SQRT, "Sqrt", NULL, NULL },
  { GANTRY_OP_RSQRT, "Rsqrt", NULL, NULL },
  { GANTRY_OP_SINE, "Sin", NULL, NULL },
  { GANTRY_OP_COSINE, "Cos", NULL, NULL },
  { GANTRY_OP_TAN, "Tan", NULL, NULL },
  { GANTRY_OP_ASIN, "Asin", NULL, NULL },
  { GANTRY_OP_ACOS, "ACos", NULL, NULL },
  { GANTRY_OP_ATAN, "Atan", NULL, NULL },
  { GANTRY_OP_SINH, "Sinh", NULL, NULL },
  { GANTRY_OP_COSH, "Cosh", NULL, NULL },
  { GANTRY_OP_ASINH, "Asinh", NULL, NULL },
  { GANTRY_OP_ACOSH, "Acosh", NULL, NULL },
  { GANTRY_OP_ATANH, "Atanh", NULL, NULL },
  { GANTRY_OP_ERF, "Erf", NULL, NULL },
  { GANTRY_OP_FLOOR, "Floor", NULL, NULL },
  { GANTRY_OP_CEIL, "Ceil", NULL, NULL },
  { GANTRY_OP_ROUND_NEAREST_EVEN, "Rint", NULL, NULL },
  { GANTRY_OP_IS_FINITE, "IsFinite", NULL, NULL },
  { GANTRY_OP_IS_NAN, "IsNan", NULL, NULL },
  { GANTRY_OP_NOT, NULL, "Invert", "LogicalNot" },
  { GANTRY_OP_ADD, "Add", "Add", NULL },
  { GANTRY_OP_SUBTRACT, "Sub", "Sub", NULL },
  { GANTRY_OP_MULTIPLY, "Mul", "Mul", NULL },
  { GANTRY_OP_DIVIDE, "RealDiv", "TruncateDiv", NULL },
  { GANTRY_OP_POWER, "Pow", "Pow", NULL },
  { GANTRY_OP_MAXIMUM, "Maximum", "Maximum", NULL },
  { GANTRY_OP_MINIMUM, "Minimum", "Minimum", NULL },
  { GANTRY_OP_ATAN2, "Atan2", NULL, NULL },
  { GANTRY_OP_AND, NULL, "BitwiseAnd", "LogicalAnd" },
  { GANTRY_OP_OR, NULL, "BitwiseOr", "LogicalOr" },
  { GANTRY_OP_XOR, NULL, "BitwiseXor", "NotEqual" },
};

static const char *
plain_name (GantryOp op, GantryElementType element)
{
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    if (plain[i].op == op)
      return gantry_element_is_float (element) ? plain[i].floats : element == GANTRY_BOOL ? plain[i].booleans : plain[i].others;
  return NULL;
}

static ExportValue *
compare (MindExport *e, ExportValue **in)
{
  static const char *const names[][2] = { { "EQ", "Equal" },     { "NE", "NotEqual" }, { "LT", "Less" },
                                          { "LE", "LessEqual" }, { "GT", "Greater" },  { "GE", "GreaterEqual" } };
  const char *direction = gantry_attrs_string (e->context, e->node->attrs, "comparison_direction", "EQ");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i][0], direction) == 0)
      return arithmetic (e, names[i][1], in, GANTRY_BOOL);
  return e->nobody;
}

/* x - trunc (x / y) y: the sign of the dividend */
static ExportValue *
remainder_of (MindExport *e, ExportValue **in)
{
  GantryElementType element = ELEMENT (in[0]);
  gboolean floats = gantry_element_is_float (element);
  ExportValue *q = arithmetic (e, floats ? "RealDiv" : "TruncateDiv", in, element);

  if (floats)
    q = unary (e, "Trunc", q, q->type);
  return gantry_mind_export_binary (e, "Sub", in[0], gantry_mind_export_binary (e, "Mul", q, in[1], element), element);
}

/* sign (x) floor (|x| + 1/2) */
static ExportValue *
round_away (MindExport *e, ExportValue *x)
{
  GantryElementType element = ELEMENT (x);
  ExportValue *size = gantry_mind_export_binary (e, "Add", unary (e, "Abs", x, x->type), gantry_mind_export_scalar (e, element, 0.5), element);

  return gantry_mind_export_binary (e, "Mul", unary (e, "Sign", x, x->type), unary (e, "Floor", size, x->type), element);
}

/* sign (x) |x|^(1/3) */
static ExportValue *
cube_root (MindExport *e, ExportValue *x)
{
  GantryElementType element = ELEMENT (x);
  ExportValue *size = gantry_mind_export_binary (e, "Pow", unary (e, "Abs", x, x->type), gantry_mind_export_scalar (e, element, 1.0 / 3), element);

  return gantry_mind_export_binary (e, "Mul", unary (e, "Sign", x, x->type), size, element);
}

/* Positions are computed with as numbers of 32 bits, which every kernel has. */
static ExportValue *
iota (MindExport *e, const GantryType *type)
{
  guint axis = (guint) gantry_attrs_int (e->context, e->node->attrs, "iota_dimension", 0);
  gint64 n = axis < type->rank ? type->dims[axis] : 1;

  return gantry_mind_export_broadcast (e, gantry_mind_export_range (e, (GantryElementType) type->element, n, type->rank, axis), type->rank, type->dims);
}

ExportValue *
gantry_mind_export_elementwise (MindExport *e, ExportValue **in, guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  GantryOp op = (GantryOp) e->node->op;
  const char *name;
  ExportValue *x;

  switch (op)
    {
    case GANTRY_OP_IOTA: return iota (e, type);
    case GANTRY_OP_CONVERT: return gantry_mind_export_cast (e, in[0], (GantryElementType) type->element);
    case GANTRY_OP_COMPARE: return compare (e, in);
    case GANTRY_OP_REMAINDER: return remainder_of (e, in);
    case GANTRY_OP_ROUND_NEAREST_AFZ: return round_away (e, in[0]);
    case GANTRY_OP_CBRT: return cube_root (e, in[0]);
    case GANTRY_OP_SELECT:
      return gantry_mind_export_node (e, "Select", NULL, type, gantry_mind_export_use (e, in[0]), gantry_mind_export_use (e, in[1]),
                                      gantry_mind_export_use (e, in[2]), NULL);
    case GANTRY_OP_CLAMP:
      x = gantry_mind_export_binary (e, "Maximum", in[1], in[0], (GantryElementType) type->element);
      return gantry_mind_export_binary (e, "Minimum", x, in[2], (GantryElementType) type->element);
    default: break;
    }
  name = plain_name (op, ELEMENT (in[0]));
  if (name == NULL)
    {
      gantry_mind_export_fail (e, "no primitive of MindSpore does this of %s", gantry_element_name (ELEMENT (in[0])));
      return e->nobody;
    }
  return n == 1 ? unary (e, name, in[0], type) : arithmetic (e, name, in, (GantryElementType) type->element);
}
