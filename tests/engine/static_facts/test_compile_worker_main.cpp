// The compile worker as a program of its own.
#include "engine/static_facts/compile_worker.h"

int main() {
    return kernelskill::engine::runCompileWorker();
}
