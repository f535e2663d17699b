// The emulator worker as a program of its own.
#include "engine/execution/emulator/worker/worker_main.h"

int main() {
    return kernelskill::engine::runEmulatorWorker();
}
