/// The comment that pins a launch, taken apart.
#pragma once

#include "analysis/scan/expression.h"
#include "analysis/source/error.h"
#include "analysis/source/source_text.h"
#include "engine/inputs/launch_inference.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct PinnedArgument {
    std::string parameter;
    std::optional<Fill> fill;                  ///< The fill of a buffer; nullopt for a plain value.
    double constant = 0;                       ///< The value for Fill::Constant.
    std::optional<analysis::Expression> value; ///< The value of a scalar.
    std::optional<analysis::Expression>
        elements; ///< The length of a buffer; nullopt when it is to be discovered.
    std::optional<analysis::Expression> range; ///< Exclusive upper bound of integers.
};

struct ParsedPin {
    std::string kernel;
    std::vector<std::string> templateArguments;
    std::vector<analysis::Expression> grid; ///< One to three axes.
    std::vector<analysis::Expression> block;
    std::optional<analysis::Expression> sharedBytes;
    std::vector<PinnedArgument> arguments;
};

inline constexpr std::string_view pinForm =
    "kernelskill: launch name<<<grid, block[, shared]>>>(n=1<<20, x=rand[n], y=zero[n])";

/// `text` begins behind "kernelskill:". The error says what is wrong, without a place.
[[nodiscard]] Result<ParsedPin> parsePin(std::string_view text);

} // namespace kernelskill::engine
