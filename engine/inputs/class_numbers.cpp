#include "engine/inputs/class_numbers.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/class_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace kernelskill::engine {
namespace {

/// Launches, each with another value in every field.
constexpr std::size_t turns = 4;

/// Smaller values, of which none is a multiple of a warp where the value is; others for 1 and 2,
/// which may be a guess without a reason.
std::int64_t otherValue(std::int64_t value, std::size_t turn) {
    if (value <= 2)
        return std::array<std::int64_t, turns>{2, 1, 3, 1}.at(turn % turns);
    const std::array<std::int64_t, turns> values{value - value / 3 - 1, value - 1, value / 2 + 1,
                                                 value - value / 4 - 3};
    return std::max<std::int64_t>(values.at(turn % turns), 1);
}

void change(ScalarSpec& scalar, const ClassNumber& number, std::size_t turn) {
    if (number.offset + number.bytes > scalar.bytes.size())
        return;
    std::int64_t value = 0;
    std::memcpy(&value, scalar.bytes.data() + number.offset, number.bytes);
    value = otherValue(value, turn);
    std::memcpy(scalar.bytes.data() + number.offset, &value, number.bytes);
}

std::vector<ClassNumber> integersOf(const ProgramText& program,
                                    const analysis::Parameter& parameter) {
    auto numbers = layoutOf(program, bareTypeName(parameter.type.spelling)).numbers;
    std::erase_if(numbers, [](const ClassNumber& number) {
        return isFloatingScalar(number.kind) || number.kind == analysis::ScalarKind::Bool;
    });
    return numbers;
}

} // namespace

std::vector<LaunchSpec> otherClassNumbers(KernelInFile subject, const LaunchSpec& launch) {
    const bool hasClass = std::ranges::any_of(launch.arguments, [](const ArgumentSpec& argument) {
        const auto* scalar = std::get_if<ScalarSpec>(&argument);
        return scalar != nullptr && !scalar->integer && !scalar->floating;
    });
    if (!hasClass)
        return {};
    const ProgramText program(subject.file);
    std::map<std::string, std::vector<ClassNumber>> numbers;
    for (const analysis::Parameter& parameter : subject.kernel.parameters)
        numbers[parameter.name] = integersOf(program, parameter);
    std::vector<LaunchSpec> launches;
    for (std::size_t turn = 0; turn < turns; ++turn) {
        LaunchSpec other = launch;
        std::size_t field = 0;
        for (ArgumentSpec& argument : other.arguments)
            if (auto* scalar = std::get_if<ScalarSpec>(&argument))
                for (const ClassNumber& number : numbers[scalar->name])
                    change(*scalar, number, turn + field++);
        if (field == 0)
            return {};
        launches.push_back(std::move(other));
    }
    return launches;
}

} // namespace kernelskill::engine
