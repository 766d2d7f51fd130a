/* Steps a model of one input and one output that runs away, and prints how many steps it took. */
#include "plant.h"

#include <stdio.h>

int main(void)
{
    plant_state state;
    plant_real past[PLANT_PAST_OUTPUTS] = { 1 };
    plant_real u = 1;
    plant_real y;
    plant_real lower;
    plant_real upper;
    int steps = 0;

    if (plant_reset(&state, 0, 0, past, PLANT_PAST_OUTPUTS) != PLANT_OK) {
        return 1;
    }
    while ((steps < 1000) && (plant_step(&state, &u, &lower, &y, &upper) == PLANT_OK)) {
        ++steps;
    }
    if ((plant_step(&state, &u, &lower, &y, &upper) != PLANT_DIVERGED)
        || (plant_online(&state, &lower, &upper) != PLANT_NO_STEP)) {
        return 2;
    }
    if ((plant_reset(&state, 0, 0, past, PLANT_PAST_OUTPUTS) != PLANT_OK)
        || (plant_step(&state, &u, &lower, &y, &upper) != PLANT_OK)) {
        return 3;
    }
    printf("%d\n", steps);
    return 0;
}
