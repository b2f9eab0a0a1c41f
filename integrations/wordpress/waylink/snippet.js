(function(w,q,m){w.Waylink&&Waylink.init||(m=w.Waylink={q:q=[],getAttribution:function(){return null},hasConsent:function(){
return!1}},'init trackLead trackConversion trackEvent whenAttributed flush identify grantConsent denyConsent trackPageView reset'.
split(' ').map(function(n,i){m[n]=function(){var a=arguments,p=new Promise(function(r){q.push([n,a,r])});if(i<6)return p}}))})(window)
