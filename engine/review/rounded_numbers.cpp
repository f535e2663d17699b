#include "engine/review/rounded_numbers.h"

#include "engine/inputs/floating_literals.h"

#include <algorithm>
#include <set>
#include <variant>

namespace kernelskill::engine {
namespace {

/// The floating literals that float rounds.
std::set<double> roundedNumbers(std::string_view text) {
    std::set<double> numbers;
    for (const double value : floatingLiterals(text))
        if (value != static_cast<double>(static_cast<float>(value)))
            numbers.insert(value);
    return numbers;
}

std::set<double> floatingScalars(const LaunchSpec& launch) {
    std::set<double> scalars;
    for (const auto& argument : launch.arguments)
        if (const auto* scalar = std::get_if<ScalarSpec>(&argument); scalar && scalar->floating)
            scalars.insert(*scalar->floating);
    return scalars;
}

} // namespace

bool bringsRoundedNumbers(std::string_view original, std::string_view edited,
                          const LaunchSpec& originalLaunch, const LaunchSpec& editedLaunch) {
    return !std::ranges::includes(roundedNumbers(original), roundedNumbers(edited)) ||
           !std::ranges::includes(floatingScalars(originalLaunch), floatingScalars(editedLaunch));
}

} // namespace kernelskill::engine
