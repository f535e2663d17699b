#include "engine/review/replay_check.h"

#include "engine/comparison/output_comparison.h"
#include "engine/execution/buffer_fill.h"
#include "engine/execution/captured_data.h"

#include <algorithm>
#include <cstring>

namespace kernelskill::engine {
namespace {

/// Compilers may contract and reorder floating-point operations.
constexpr double programError = 1e-4;

/// Poison marks elements that the kernel did not write. The program's memory held something else
/// there.
void dropUnwritten(BufferContents& left, const std::vector<std::byte>& known) {
    constexpr std::size_t step = sizeof poisonWord;
    for (std::size_t at = 0; at + step <= left.bytes.size(); at += step) {
        if (std::memcmp(left.bytes.data() + at, &poisonWord, step) == 0)
            std::memcpy(left.bytes.data() + at, known.data() + at, step);
    }
}

} // namespace

Check checkReplay(const LaunchSpec& launch, const std::vector<BufferContents>& outputs,
                  std::string_view runner) {
    Check check{"the program's own results", true, {}};
    std::vector<BufferContents> expected;
    std::vector<BufferContents> actual;
    for (const ArgumentSpec& argument : launch.arguments) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer == nullptr || !buffer->captured || buffer->captured->after.empty())
            continue;
        const auto output = std::ranges::find(outputs, buffer->name, &BufferContents::name);
        const auto file = openCapturedFile(buffer->captured->after);
        if (output == outputs.end() || !file || file->bytes().size() < output->bytes.size())
            continue;
        BufferContents known = *output;
        known.bytes.assign(file->bytes().begin(),
                           file->bytes().begin() +
                               static_cast<std::ptrdiff_t>(output->bytes.size()));
        actual.push_back(*output);
        if (!buffer->isInput)
            dropUnwritten(actual.back(), known.bytes);
        expected.push_back(std::move(known));
    }
    if (expected.empty())
        return check;
    const auto comparison = compareOutputs(expected, actual, {false, programError});
    check.detail = "on the captured data " + std::string(runner) +
                   (comparison.agrees ? " gives the program's results"
                                      : " gives other results than the program got, which may be "
                                        "older: " +
                                            comparison.detail);
    return check;
}

} // namespace kernelskill::engine
