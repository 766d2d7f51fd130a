/* Reads lower bounds, predictions, upper bounds, measured outputs and flags; prints what the watch says after every sample. */
#include "plant.h"

#include <stdio.h>

int main(void)
{
    static plant_monitor monitor;
    double row[(4 * PLANT_OUTPUTS) + 1] = { 0.0 };
    int index = 0;
    double value = 0.0;

    if (plant_monitor_health(&monitor) != PLANT_HEALTHY) {
        return 1;
    }
    if (plant_monitor_observe(&monitor, row, row, row, row, 0) != PLANT_NOT_STARTED) {
        return 2;
    }
    if ((plant_monitor_start(0) != PLANT_NULL) || (plant_monitor_start(&monitor) != PLANT_OK)) {
        return 3;
    }
    if (plant_monitor_coverage(&monitor, 0) >= 0.0) {
        return 4;
    }
    printf("%u\n", (unsigned int)sizeof(monitor));
    while (scanf("%lf", &value) == 1) {
        row[index] = value;
        ++index;
        if (index == ((4 * PLANT_OUTPUTS) + 1)) {
            int output;

            if (plant_monitor_observe(&monitor, &row[0], &row[PLANT_OUTPUTS], &row[2 * PLANT_OUTPUTS],
                    &row[3 * PLANT_OUTPUTS], (int)row[4 * PLANT_OUTPUTS]) != PLANT_OK) {
                return 5;
            }
            printf("%d", (int)plant_monitor_health(&monitor));
            for (output = 0; output < PLANT_OUTPUTS; ++output) {
                printf(" %.17g %.17g %.17g", plant_monitor_coverage(&monitor, output),
                    plant_monitor_recent_coverage(&monitor, output), plant_monitor_evidence(&monitor, output));
            }
            printf("\n");
            index = 0;
        }
    }
    return 0;
}
