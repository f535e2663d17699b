/// A server that ends in time, whatever its threads still do.
#pragma once

#include <chrono>
#include <cstdlib>
#include <stop_token>
#include <thread>

namespace kernelskill::lsp {

/// Ends the process with `status`, unless the object is destroyed before the time has passed: a
/// parse cannot be interrupted, and no client should have to wait for one of a huge file.
class ExitDeadline {
public:
    explicit ExitDeadline(int status)
        : watchdog_([status](const std::stop_token& finished) {
              const auto deadline = std::chrono::steady_clock::now() + patience;
              while (!finished.stop_requested()) {
                  if (std::chrono::steady_clock::now() > deadline)
                      std::_Exit(status);
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
              }
          }) {}

private:
    /// Editors kill after a second or three.
    static constexpr std::chrono::milliseconds patience{500};
    std::jthread watchdog_;
};

} // namespace kernelskill::lsp
