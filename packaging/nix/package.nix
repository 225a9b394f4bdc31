# The archive as it is: its program is linked statically, and its programs for guests bring their loader and libraries.
{
  lib,
  stdenvNoCC,
  fetchurl,
}:

stdenvNoCC.mkDerivation rec {
  pname = "ssdlab";
  version = "@version@";

  src = fetchurl {
    url = "https://ssdlab.invalid/ssdlab-${version}-x86_64.tar.gz";
    sha256 = "@sha256@";
  };

  dontConfigure = true;
  dontBuild = true;
  installPhase = ''
    runHook preInstall
    mkdir $out
    cp -r bin lib share $out/
    runHook postInstall
  '';
  # Guests need their programs as they are, with the loader's usual place.
  dontFixup = true;

  meta = {
    description = "Controlled experiments on filesystems on SSDs";
    homepage = "https://ssdlab.invalid";
    license = with lib.licenses; [
      mit
      asl20
      gpl2Only
    ];
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
    platforms = [ "x86_64-linux" ];
    mainProgram = "ssdlab";
  };
}
