/* SPDX-License-Identifier: Apache-2.0 */
/* One small recurrent program in all the forms in which a loop can be written, as text: four layers
 * h = tanh (h w + b) * h + tanh (h w + b), with something of each layer as a second output. Forms of one flavour compute the
 * same; flavours that are neutral compute the same as the plain one. */
#pragma once
#include <glib.h>

#define FORM_LAYERS 4
#define FORM_ROWS 3
#define FORM_WIDTH 8

typedef enum
{
  FORM_UNROLLED, /* slices of the stacked parameters, layer after layer */
  FORM_SEPARATE, /* a parameter for each layer */
  FORM_CALLS,    /* one function, called for each layer */
  FORM_SCAN,
  FORM_SCAN_AXIS_1, /* parameters and what is stacked, all along axis 1 */
  FORM_SCAN_AXIS_2, /* along the last */
  FORM_REVERSED,
  FORM_NESTED,          /* two by two */
  FORM_NESTED_INNER,    /* the inner one reversed */
  FORM_NESTED_REVERSED, /* both */
  FORM_WHILE,           /* a counter, and a bound above it */
  FORM_N_SHAPES
} FormShape;

typedef enum
{
  FORM_PLAIN,
  /* neutral */
  FORM_COPIES,          /* a value goes to the host and comes back */
  FORM_TWO_KINDS,       /* the second output twice: on the device, and the same in the host */
  FORM_CONVERTED,       /* converted before it goes to the host, and after it came back */
  FORM_HOST_PARAMETERS, /* the parameters live in the host by their types */
  FORM_UNUSED_CARRIES,  /* one carry that nobody reads, one that is only handed on */
  FORM_BARRIER,
  /* others */
  FORM_COUNTER, /* an integer carry that is a factor */
  FORM_SORT,    /* an operation of two results */
  FORM_RANDOM,  /* another, with its state as a carry of integers */
  FORM_BRANCH,  /* an `if` on what was computed */
  FORM_N_FLAVOURS
} FormFlavour;

const char *form_shape_name (FormShape shape);
const char *form_flavour_name (FormFlavour flavour);
gboolean form_flavour_is_neutral (FormFlavour flavour);
/** The program, of elements f32 or f64. (transfer full) */
char *form_text (FormShape shape, FormFlavour flavour, const char *element);

/**
 * form_layer_element:
 * @name: of a parameter
 * @index: row-major in it
 *
 * Returns: where that element stands when all layers lie one after the other in the order in which they run: the same for the
 *  same number in every form
 */
guint form_layer_element (FormShape shape, const char *name, guint index);
/** How many elements all layers of the parameter "w" or "b" (or of a part of it) have together. */
guint form_layers_size (const char *name);
