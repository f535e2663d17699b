// The entry points of libFuzzer. KERNELSKILL_FUZZ names the target.

#include "tests/fuzz/targets.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

const kernelskill::testing::FuzzTarget& chosen() {
    const char* wanted = std::getenv("KERNELSKILL_FUZZ");
    const auto targets = kernelskill::testing::fuzzTargets();
    const auto found = std::ranges::find(targets, std::string_view(wanted == nullptr ? "" : wanted),
                                         &kernelskill::testing::FuzzTarget::name);
    if (found != targets.end())
        return *found;
    std::fputs("set KERNELSKILL_FUZZ to one of:\n", stderr);
    for (const auto& target : targets)
        std::fprintf(stderr, "  %s\n", target.name.data());
    std::exit(2);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const kernelskill::testing::FuzzTarget& target = chosen();
    target.run({reinterpret_cast<const char*>(data), size});
    return 0;
}
