/* Feeds numbers from the standard input to an exported step and prints what it answers. */
#include "plant.h"

#include <stdio.h>
#include <stdlib.h>

static plant_real next_number(void)
{
    double value = 0.0;

    if (scanf("%lf", &value) != 1) {
        exit(3);
    }
    return (plant_real)value;
}

static void fail(const char *what, plant_status status)
{
    fprintf(stderr, "%s: status %d\n", what, (int)status);
    exit(4);
}

int main(void)
{
    static plant_real past_inputs[100000];
    static plant_real past_outputs[100000];
    plant_state state;
    const int input_samples = (int)next_number();
    const int output_samples = (int)next_number();
    const int steps = (int)next_number();
    plant_status status;
    int index;
    int step;

    for (index = 0; index < (input_samples * PLANT_INPUTS); ++index) {
        past_inputs[index] = next_number();
    }
    for (index = 0; index < (output_samples * PLANT_OUTPUTS); ++index) {
        past_outputs[index] = next_number();
    }
    printf("%u\n", (unsigned int)sizeof(plant_state));
    status = plant_reset(&state, past_inputs, input_samples, past_outputs, output_samples);
    if (status != PLANT_OK) {
        fail("reset", status);
    }
    for (step = 0; step < steps; ++step) {
        plant_real u[PLANT_INPUTS];
        plant_real measured[PLANT_OUTPUTS];
        plant_real lower[PLANT_OUTPUTS];
        plant_real y[PLANT_OUTPUTS];
        plant_real upper[PLANT_OUTPUTS];
        plant_real online_lower[PLANT_OUTPUTS];
        plant_real online_upper[PLANT_OUTPUTS];
        int is_extrapolated = 7;

        for (index = 0; index < PLANT_INPUTS; ++index) {
            u[index] = next_number();
        }
        for (index = 0; index < PLANT_OUTPUTS; ++index) {
            measured[index] = next_number();
        }
        status = plant_step(&state, u, lower, y, upper);
        if (status != PLANT_OK) {
            fail("step", status);
        }
        status = plant_online(&state, online_lower, online_upper);
        if (status != PLANT_OK) {
            fail("online", status);
        }
        status = plant_extrapolated(&state, &is_extrapolated);
        if (status != PLANT_OK) {
            fail("extrapolated", status);
        }
        status = plant_observe(&state, measured);
        if (status != PLANT_OK) {
            fail("observe", status);
        }
#ifdef CORRECTED
        /* Two samples of three are measured in time. */
        if ((step % 3) != 2) {
            status = plant_correct(&state, measured);
            if (status != PLANT_OK) {
                fail("correct", status);
            }
        }
#endif
        for (index = 0; index < PLANT_OUTPUTS; ++index) {
            printf("%d %.17g %.17g %.17g %.17g %.17g\n", is_extrapolated, (double)y[index], (double)lower[index],
                (double)upper[index], (double)online_lower[index], (double)online_upper[index]);
        }
    }
    return 0;
}
