#include "engine/comparison/scalar_row.h"

#include "analysis/syntax/short_floats.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstring>

namespace kernelskill::engine {

using analysis::ScalarKind;

namespace {

/// Larger objects are taken for plain numbers.
constexpr std::size_t maxLanes = 16;

template <typename T>
T numberAt(const std::byte* from) {
    T value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// Takes every `stride`th number, from number `first` on.
double rootMeanSquare(const ScalarRow& row, std::size_t first, std::size_t stride) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t index = first; index < row.size(); index += stride) {
        const double value = row.value(index);
        if (std::isfinite(value)) {
            sum += value * value;
            ++count;
        }
    }
    return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

} // namespace

double floatingScalar(ScalarKind kind, const std::byte* from) {
    switch (kind) {
    case ScalarKind::Half:
        return analysis::halfValue(numberAt<std::uint16_t>(from));
    case ScalarKind::BFloat16:
        return analysis::bfloatValue(numberAt<std::uint16_t>(from));
    case ScalarKind::Float:
        return numberAt<float>(from);
    case ScalarKind::Double:
        return numberAt<double>(from);
    default:
        return 0;
    }
}

double unitRoundoff(ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Half:
        return 0x1p-11;
    case ScalarKind::BFloat16:
        return 0x1p-8;
    case ScalarKind::Float:
        return 0x1p-24;
    case ScalarKind::Double:
        return 0x1p-53;
    default:
        return 0;
    }
}

std::string wholeName(const std::string& part) {
    return part.substr(0, part.find('['));
}

double usualScale(const std::map<std::string, double>& scales, const std::string& buffer) {
    const auto found = scales.find(wholeName(buffer));
    return found == scales.end() ? 0 : found->second;
}

double rootMeanSquare(const ScalarRow& row) {
    return rootMeanSquare(row, 0, 1);
}

std::vector<double> rootMeanSquares(const ScalarRow& row) {
    std::vector<double> scales(row.lanes());
    for (std::size_t lane = 0; lane < scales.size(); ++lane)
        scales[lane] = rootMeanSquare(row, lane, scales.size());
    return scales;
}

std::string laneName(const std::string& buffer, std::size_t lane) {
    return fmt::format("{}.{}", wholeName(buffer), lane);
}

std::size_t ScalarRow::lanes() const {
    const std::size_t numbers = buffer.elementBytes / step;
    return buffer.elementBytes % step == 0 && numbers <= maxLanes
               ? std::max<std::size_t>(numbers, 1)
               : 1;
}

} // namespace kernelskill::engine
