/* SPDX-License-Identifier: Apache-2.0 */
/* What messages ask of the user, in words that name no program's controls: the window has fields for it, and a command line that has an
 * option for it finds these words in the message and adds its name. */
#pragma once

#define GANTRY_ASKS_SIZE "set the size of"
#define GANTRY_ASKS_VALUE "set the value of"
#define GANTRY_ASKS_PROCESSOR "run on the processor"
#define GANTRY_ASKS_OTHER_GPU "choose another GPU"
