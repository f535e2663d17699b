/// The end of what a program prints, which says most often why it failed.
#pragma once

#include "analysis/source/error.h"

#include <string>
#include <string_view>

namespace kernelskill::lsp {

class OutputEnd {
public:
    void add(std::string_view text);
    /// The last 8192 bytes, as UTF-8.
    [[nodiscard]] std::string text() const;
    /// The error with the last lines of the output as its remedy; as it is if nothing was printed,
    /// and if it says that the program was stopped.
    [[nodiscard]] Error explained(Error error) const;

private:
    /// The last lines of the output that are not empty.
    [[nodiscard]] std::string lastLines() const;

    std::string text_;
};

} // namespace kernelskill::lsp
