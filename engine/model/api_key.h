/// The key to a service. It is sent in the header of a request and appears nowhere else.
#pragma once

#include "analysis/source/error.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Cannot be printed or compared by accident: only reveal() returns it.
class ApiKey {
public:
    ApiKey() = default;
    /// InvalidInput if the text is not valid in a header. Drops white space around it.
    [[nodiscard]] static Result<ApiKey> from(std::string_view text);
    /// Reads the environment variable `variable`. Missing, with the variable's name, if it is unset
    /// or empty. If `variable` is empty, so is the key.
    [[nodiscard]] static Result<ApiKey> fromEnvironment(const std::string& variable);

    [[nodiscard]] bool isEmpty() const { return key_.empty(); }
    [[nodiscard]] std::string_view reveal() const { return key_; }
    /// Whether `text` contains the key. Keys of fewer than 8 letters ("none", "EMPTY") are
    /// placeholders for local services and not secret.
    [[nodiscard]] bool isIn(std::string_view text) const;
    /// `text` with the key replaced by "[key]".
    [[nodiscard]] std::string hiddenIn(std::string_view text) const;

private:
    std::string key_;
};

} // namespace kernelskill::engine
