# The archive as it is, in Homebrew on Linux.
class Ssdlab < Formula
  desc "Controlled experiments on filesystems on SSDs"
  homepage "https://ssdlab.invalid"
  url "https://ssdlab.invalid/ssdlab-@version@-x86_64.tar.gz"
  sha256 "@sha256@"
  license all_of: [{ any_of: ["MIT", "Apache-2.0"] }, "GPL-2.0-only"]

  depends_on arch: :x86_64
  depends_on :linux

  def install
    prefix.install "bin", "lib", "share"
  end

  test do
    assert_match "sqlite", shell_output("#{bin}/ssdlab list plans")
    assert_match "in the virtual lab", shell_output("#{bin}/ssdlab list filesystems")
  end
end
