/* Wrong calls of a model with a warm-up of nine samples, one input and one output. */
#include "plant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHECK(what)                                            \
    do {                                                       \
        if (!(what)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what); \
            return 1;                                          \
        }                                                      \
    } while (0)

int main(void)
{
    plant_state state;
    plant_state copy;
    plant_real past[PLANT_PAST_OUTPUTS];
    plant_real bad[PLANT_PAST_OUTPUTS];
    plant_real u = 5;
    plant_real y;
    plant_real lower;
    plant_real upper;
    plant_real nan_value = (plant_real)NAN;
    plant_real overload = (plant_real)9.9e37;
    int alarm = 7;
    int k;

    memset(&state, 0, sizeof(state));
    for (k = 0; k < PLANT_PAST_OUTPUTS; ++k) {
        past[k] = 5;
        bad[k] = (k == 3) ? (plant_real)INFINITY : (plant_real)5;
    }
    CHECK(plant_step(&state, &u, &lower, &y, &upper) == PLANT_NOT_STARTED);
    CHECK(plant_observe(&state, &u) == PLANT_NOT_STARTED);
    CHECK(plant_correct(&state, &u) == PLANT_NOT_STARTED);
    CHECK(plant_online(&state, &lower, &upper) == PLANT_NOT_STARTED);
    CHECK(plant_extrapolated(&state, &alarm) == PLANT_NOT_STARTED);
    CHECK(plant_extrapolated(&state, 0) == PLANT_NULL);
    CHECK(plant_extrapolated(0, &alarm) == PLANT_NULL);
    CHECK(alarm == 7);
    CHECK(PLANT_KNOWS_REGION == 1);
    CHECK(plant_reset(0, past, 9, past, 10) == PLANT_NULL);
    CHECK(plant_reset(&state, 0, 9, past, 10) == PLANT_NULL);
    CHECK(plant_reset(&state, past, 9, past, 9) == PLANT_TOO_FEW);
    CHECK(plant_reset(&state, past, 8, past, 10) == PLANT_TOO_FEW);
    CHECK(plant_reset(&state, past, -1, past, 10) == PLANT_TOO_FEW);
    CHECK(plant_reset(&state, past, 9, bad, 10) == PLANT_NOT_FINITE);
    CHECK(plant_reset(&state, bad, 9, past, 10) == PLANT_NOT_FINITE);
    CHECK(plant_reset(&state, past, 9, past, 10) == PLANT_OK);
    CHECK(plant_observe(&state, &u) == PLANT_NO_STEP);
    CHECK(plant_correct(&state, &u) == PLANT_NO_STEP);
    CHECK(plant_online(&state, &lower, &upper) == PLANT_NO_STEP);
    copy = state;
    CHECK(plant_step(&state, &nan_value, &lower, &y, &upper) == PLANT_NOT_FINITE);
    CHECK(plant_step(&state, 0, &lower, &y, &upper) == PLANT_NULL);
    CHECK(plant_step(&state, &overload, &lower, &y, &upper) == PLANT_OUT_OF_RANGE);
    bad[3] = overload;
    CHECK(plant_reset(&state, past, 9, bad, 10) == PLANT_OUT_OF_RANGE);
    CHECK(plant_reset(&state, bad, 9, past, 10) == PLANT_OUT_OF_RANGE);
    CHECK(memcmp(&state, &copy, sizeof(state)) == 0);
    CHECK(plant_step(&state, &u, &lower, &y, &upper) == PLANT_OK);
    CHECK((lower <= y) && (y <= upper));
    CHECK(plant_extrapolated(&state, &alarm) == PLANT_OK);
    CHECK((alarm == 0) || (alarm == 1));
    CHECK(plant_observe(&state, &nan_value) == PLANT_NOT_FINITE);
    CHECK(plant_observe(&state, &u) == PLANT_OK);
    CHECK(plant_observe(&state, &u) == PLANT_NO_STEP);
    copy = state;
    CHECK(plant_correct(&state, &nan_value) == PLANT_NOT_FINITE);
    CHECK(plant_correct(&state, &overload) == PLANT_OUT_OF_RANGE);
    CHECK(plant_correct(&state, 0) == PLANT_NULL);
    CHECK(memcmp(&state, &copy, sizeof(state)) == 0);
    CHECK(plant_correct(&state, &u) == PLANT_OK);
    CHECK(plant_correct(&state, &u) == PLANT_NO_STEP);
    CHECK(strlen(plant_model_hash()) == 64U);
    return 0;
}
