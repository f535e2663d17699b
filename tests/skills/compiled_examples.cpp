#include "tests/skills/compiled_examples.h"

#include <algorithm>

namespace kernelskill::skills {

CompiledKernel compiledAs(std::uint32_t registers, std::uint32_t threads, std::uint64_t sharedBytes,
                          std::uint64_t spilled) {
    CompiledKernel compiled;
    compiled.architecture = "sm_90";
    compiled.registers = registers;
    compiled.spillStoreBytes = spilled;
    compiled.spillLoadBytes = spilled;
    compiled.stackBytes = spilled;
    compiled.staticSharedBytes = sharedBytes;
    compiled.blockThreads = threads;
    compiled.occupancy = compiled.occupancyOf(compiled.resources());
    return compiled;
}

const std::vector<CompiledExample>& compiledExamples() {
    static const std::vector<CompiledExample> examples = {
        {"async-copy", compiledAs(93, 256, 12'288), compiledAs(97, 256, 24'576)},
        {"launch-bounds", compiledAs(72, 256), compiledAs(64, 256)},
        {"live-range-reduction", compiledAs(40, 1024, 4096), compiledAs(32, 1024, 4096)},
        {"occupancy-shared-memory-tradeoff", compiledAs(40, 128, 33'792),
         compiledAs(40, 128, 16'896)},
        {"reduced-unrolling", compiledAs(32, 1024, 0, 548), compiledAs(28, 1024)},
    };
    return examples;
}

const CompiledExample* compiledExample(std::string_view skill) {
    const auto found = std::ranges::find(compiledExamples(), skill, &CompiledExample::skill);
    return found == compiledExamples().end() ? nullptr : &*found;
}

} // namespace kernelskill::skills
