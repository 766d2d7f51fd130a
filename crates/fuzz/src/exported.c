/* Answers what is asked of an exported model, in binary, until there are no more questions. */
#include "plant.h"

#include <stdio.h>

#define MOST 4096

static plant_real numbers[2][MOST];

static int take(void *place, size_t size)
{
    return fread(place, size, 1, stdin) == 1;
}

static int take_numbers(plant_real *place, int count)
{
    int index;

    for (index = 0; index < count; ++index) {
        double value;

        if (!take(&value, sizeof(value))) {
            return 0;
        }
        place[index] = (plant_real)value;
    }
    return 1;
}

static void give(plant_status status, const plant_real *values, int count)
{
    const int answer = (int)status;
    int index;

    fwrite(&answer, sizeof(answer), 1, stdout);
    for (index = 0; index < count; ++index) {
        const double value = (double)values[index];
        fwrite(&value, sizeof(value), 1, stdout);
    }
    fflush(stdout);
}

int main(void)
{
    static plant_state state;
    int question;

    while ((question = getchar()) != EOF) {
        if (question == 'r') {
            int counts[2];

            if (!take(counts, sizeof(counts)) || (counts[0] > MOST) || (counts[1] > MOST)
                || !take_numbers(numbers[0], counts[0]) || !take_numbers(numbers[1], counts[1])) {
                return 3;
            }
            give(plant_reset(&state, numbers[0], (PLANT_INPUTS > 0) ? (counts[0] / PLANT_INPUTS) : 0, numbers[1],
                     counts[1] / PLANT_OUTPUTS), 0, 0);
        } else if (question == 's') {
            plant_real bounds[3 * PLANT_OUTPUTS] = { 0 };
            plant_status status;

            if (!take_numbers(numbers[0], PLANT_INPUTS)) {
                return 3;
            }
            status = plant_step(&state, numbers[0], bounds, &bounds[PLANT_OUTPUTS], &bounds[2 * PLANT_OUTPUTS]);
            give(status, bounds, 3 * PLANT_OUTPUTS);
        } else if (question == 'o') {
            if (!take_numbers(numbers[0], PLANT_OUTPUTS)) {
                return 3;
            }
            give(plant_observe(&state, numbers[0]), 0, 0);
        } else {
            return 4;
        }
    }
    return 0;
}
