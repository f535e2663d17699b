/// Owns an open file, socket or pipe, and closes it.
#pragma once

#include <unistd.h>
#include <utility>

namespace kernelskill::engine {

class FileDescriptor {
public:
    FileDescriptor() = default;
    /// `value` may be -1, as system calls return it.
    explicit FileDescriptor(int value) : value_(value) {}
    FileDescriptor(FileDescriptor&& other) noexcept : value_(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        if (this != &other) {
            close();
            value_ = other.release();
        }
        return *this;
    }
    ~FileDescriptor() { close(); }

    [[nodiscard]] int get() const { return value_; }
    [[nodiscard]] bool isOpen() const { return value_ >= 0; }
    /// Gives up the ownership: the caller closes the descriptor.
    [[nodiscard]] int release() { return std::exchange(value_, -1); }
    void close() {
        if (isOpen())
            ::close(release());
    }

private:
    int value_ = -1;
};

} // namespace kernelskill::engine
