#include "engine/inputs/mixed_values.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/argument_specs.h"

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <utility>
#include <variant>
#include <vector>

namespace kernelskill::engine {
namespace {

ValueChoice only(std::vector<double> values) {
    ValueChoice choice;
    choice.values = std::move(values);
    choice.share = 1;
    return choice;
}

/// Values from `least` to `most`, at steps that are no round numbers.
ValueChoice between(double least, double most) {
    constexpr std::size_t count = 61;
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(least + (most - least) * (static_cast<double>(i) + 0.37) / count);
    return only(std::move(values));
}

ValueChoice mostlyZeros() {
    ValueChoice choice = only({0});
    choice.share = 0.75;
    return choice;
}

class Mixer {
public:
    Mixer(const ValueDictionary& dictionary, std::uint64_t seed)
        : dictionary_(dictionary), random_(seed) {}

    bool flip() { return below(2) == 0; }

    ValueChoice floats() {
        switch (below(7)) {
        case 0:
            return between(0.5, 1.5);
        case 1:
            return between(0.001, 0.01);
        case 2:
            return between(10, 100);
        case 3:
            return between(0, 1);
        case 4:
            return between(-1, 1);
        case 5:
            return only({1});
        default:
            return mostlyZeros();
        }
    }

    ValueChoice integers() {
        switch (below(6)) {
        case 0:
            return only({0});
        case 1:
            return only({1});
        case 2:
            return only({0, 1});
        case 3:
            return only({0, 1, 2, 3});
        case 4:
            return only({-1});
        default:
            return only({ofDictionary()});
        }
    }

    /// nullopt: the indices that the launch has.
    std::optional<ValueChoice> indices() {
        switch (below(5)) {
        case 0:
            return only({0});
        case 1:
            return only({-1});
        case 2:
            return only({-1, 0, 1, 2});
        default:
            return std::nullopt;
        }
    }

    double scalar() {
        constexpr std::array values{0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0};
        return values.at(below(values.size()));
    }

private:
    std::size_t below(std::size_t count) { return random_() % count; }

    double ofDictionary() {
        return dictionary_.integral.empty()
                   ? 2
                   : dictionary_.integral.at(below(dictionary_.integral.size()));
    }

    const ValueDictionary& dictionary_;
    std::mt19937_64 random_;
};

void set(ScalarSpec& scalar, double value) {
    using analysis::ScalarKind;
    if (!scalar.floating || scalar.integer)
        return;
    const auto kind = scalar.bytes.size() == sizeof(double)  ? ScalarKind::Double
                      : scalar.bytes.size() == sizeof(float) ? ScalarKind::Float
                                                             : ScalarKind::Unknown;
    if (kind == ScalarKind::Unknown)
        return;
    scalar.floating = value;
    scalar.bytes = floatingBytes(kind, value);
}

} // namespace

LaunchSpec withMixedValues(LaunchSpec launch, const ValueDictionary& dictionary,
                           std::uint64_t seed) {
    Mixer mixer(dictionary, seed);
    for (ArgumentSpec& argument : launch.arguments) {
        if (auto* scalar = std::get_if<ScalarSpec>(&argument)) {
            if (mixer.flip())
                set(*scalar, mixer.scalar());
            continue;
        }
        auto& buffer = std::get<BufferSpec>(argument);
        if (!buffer.isInput || !isMadeUp(buffer.fill))
            continue;
        // The choice makes the floats of a buffer of classes.
        const bool isFloating =
            isFloatingScalar(buffer.element) || buffer.element == analysis::ScalarKind::Unknown;
        auto choice = buffer.integerRange != 0 ? mixer.indices()
                      : isFloating             ? mixer.floats()
                                               : mixer.integers();
        if (!choice)
            continue;
        buffer.fill = Fill::Chosen;
        buffer.choice = std::move(choice);
        buffer.integerRange = 0; // It would keep negative indices out.
    }
    for (SymbolSpec& symbol : launch.symbols) {
        if (!isMadeUp(symbol.fill) || symbol.integerRange != 0)
            continue;
        symbol.fill = Fill::Chosen;
        symbol.choice = mixer.floats();
        // A float64 form of the kernel has to get the same values.
        symbol.choice->isFloat = true;
    }
    return launch;
}

} // namespace kernelskill::engine
