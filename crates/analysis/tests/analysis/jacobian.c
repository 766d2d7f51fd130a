/*
 * Brings an exported model to rest and prints the derivatives of its step there; then walks on with other inputs and prints how far the
 * derivatives with respect to the inputs are from differences of steps, relative to their size.
 */
#include "plant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PAST 60
#define WALK 40

static double next_number(void)
{
    double value = 0.0;

    if (scanf("%lf", &value) != 1) {
        exit(3);
    }
    return value;
}

static void check(plant_status status, const char *what)
{
    if (status != PLANT_OK) {
        fprintf(stderr, "%s: status %d\n", what, (int)status);
        exit(4);
    }
}

static void print(const plant_real *values, int count)
{
    int index;

    for (index = 0; index < count; ++index) {
        printf("%.17g ", (double)values[index]);
    }
    printf("\n");
}

int main(void)
{
    static plant_real dx_dx[PLANT_STATES * PLANT_STATES];
    static plant_real dx_du[PLANT_STATES * PLANT_INPUTS];
    static plant_real dy_dx[PLANT_OUTPUTS * PLANT_STATES];
    static plant_real dy_du[PLANT_OUTPUTS * PLANT_INPUTS];
    plant_real past_u[PAST * PLANT_INPUTS];
    plant_real past_y[PAST * PLANT_OUTPUTS];
    plant_real u[PLANT_INPUTS];
    plant_real size[PLANT_INPUTS];
    plant_real lower[PLANT_OUTPUTS];
    plant_real y[PLANT_OUTPUTS];
    plant_real upper[PLANT_OUTPUTS];
    plant_state state = { 0 };
    double largest = 0.0;
    double error = 0.0;
    const int settle = (int)next_number();
    int k;
    int input;
    int output;

    for (input = 0; input < PLANT_INPUTS; ++input) {
        u[input] = (plant_real)next_number();
        size[input] = (plant_real)next_number();
    }
    for (output = 0; output < PLANT_OUTPUTS; ++output) {
        y[output] = (plant_real)next_number();
    }
    for (k = 0; k < (PAST * PLANT_INPUTS); ++k) {
        past_u[k] = u[k % PLANT_INPUTS];
    }
    for (k = 0; k < (PAST * PLANT_OUTPUTS); ++k) {
        past_y[k] = y[k % PLANT_OUTPUTS];
    }
    if (plant_jacobian(&state, u, dx_dx, dx_du, dy_dx, dy_du) != PLANT_NOT_STARTED) {
        return 5;
    }
    check(plant_reset(&state, past_u, PAST, past_y, PAST), "reset");
    for (k = 0; k < settle; ++k) {
        check(plant_step(&state, u, lower, y, upper), "step");
    }
    if (plant_jacobian(&state, u, dx_dx, 0, dy_dx, dy_du) != PLANT_NULL) {
        return 6;
    }
    check(plant_jacobian(&state, u, dx_dx, dx_du, dy_dx, dy_du), "jacobian");
    print(dx_dx, PLANT_STATES * PLANT_STATES);
    print(dx_du, PLANT_STATES * PLANT_INPUTS);
    print(dy_dx, PLANT_OUTPUTS * PLANT_STATES);
    print(dy_du, PLANT_OUTPUTS * PLANT_INPUTS);
    for (k = 0; k < WALK; ++k) {
        plant_real now[PLANT_INPUTS];

        for (input = 0; input < PLANT_INPUTS; ++input) {
            now[input] = u[input] + (size[input] * (plant_real)sin((0.7 * k) + input));
        }
        check(plant_jacobian(&state, now, dx_dx, dx_du, dy_dx, dy_du), "jacobian on the way");
        for (input = 0; input < PLANT_INPUTS; ++input) {
            const double step = 1e-5 * (double)size[input];
            plant_real sides[2][PLANT_OUTPUTS];
            int side;

            for (side = 0; side < 2; ++side) {
                plant_state copy = state;
                plant_real moved[PLANT_INPUTS];
                int index;

                for (index = 0; index < PLANT_INPUTS; ++index) {
                    moved[index] = now[index];
                }
                moved[input] += (plant_real)((side == 0) ? -step : step);
                check(plant_step(&copy, moved, lower, sides[side], upper), "moved step");
            }
            for (output = 0; output < PLANT_OUTPUTS; ++output) {
                const double exact = (double)dy_du[(output * PLANT_INPUTS) + input];
                const double found = ((double)sides[1][output] - (double)sides[0][output]) / (2.0 * step);

                largest = (fabs(exact) > largest) ? fabs(exact) : largest;
                error = (fabs(exact - found) > error) ? fabs(exact - found) : error;
            }
        }
        check(plant_step(&state, now, lower, y, upper), "step on the way");
    }
    printf("%.17g %.17g\n", largest, error);
    return 0;
}
