// The emulator worker as a program of its own.
#include "engine/execution/emulator/emulator_executor.h"

int main() {
    return kernelskill::engine::runEmulatorWorker();
}
